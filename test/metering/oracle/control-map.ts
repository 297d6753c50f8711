/** For every structured instruction of a body: where its `else`, its handlers and its end stand. */
import { type Instruction, OP } from './instruction.ts'

/** Positions are indices into the body's instructions. */
export interface ControlMap {
  /** For block, loop, if, try, try_table, else, catch, catch_all: the matching `end` or `delegate`. */
  readonly end: ReadonlyMap<number, number>
  /** For an `if`: its `else`. */
  readonly otherwise: ReadonlyMap<number, number>
  /** For a `try`: its `catch` and `catch_all` in order, or its `delegate`. */
  readonly handlers: ReadonlyMap<number, readonly number[]>
}

const OPENING = new Set<number>([OP.block, OP.loop, OP.if, OP.try, OP.try_table])
const DIVIDING = new Set<number>([OP.else, OP.catch, OP.catch_all])

/** Walks a body once. */
export function mapControl(code: readonly Instruction[]): ControlMap {
  const end = new Map<number, number>()
  const otherwise = new Map<number, number>()
  const handlers = new Map<number, number[]>()
  const open: { at: number; members: number[] }[] = []
  code.forEach(({ opcode }, at) => {
    if (OPENING.has(opcode)) open.push({ at, members: [at] })
    const innermost = open.at(-1)
    if (innermost === undefined) return
    if (DIVIDING.has(opcode)) innermost.members.push(at)
    if (opcode === OP.else) otherwise.set(innermost.at, at)
    if (opcode === OP.catch || opcode === OP.catch_all || opcode === OP.delegate)
      handlers.set(innermost.at, [...(handlers.get(innermost.at) ?? []), at])
    if (opcode !== OP.end && opcode !== OP.delegate) return
    for (const member of innermost.members) end.set(member, at)
    open.pop()
  })
  return { end, otherwise, handlers }
}
