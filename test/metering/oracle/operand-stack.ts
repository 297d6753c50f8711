/** The operand stack of one activation. */
import type { Value } from './entities.ts'

/** Values with typed pops; validation guarantees that what is popped is there. */
export class OperandStack {
  readonly values: Value[] = []

  push(...values: readonly Value[]): void {
    this.values.push(...values)
  }

  pop(): Value {
    return this.values.pop()
  }

  /** Pops an i32 as an unsigned number. */
  popIndex(): number {
    return (this.values.pop() as number) >>> 0
  }

  /** Pops `count` values; the last popped comes last. */
  popMany(count: number): Value[] {
    return count === 0 ? [] : this.values.splice(-count)
  }
}
