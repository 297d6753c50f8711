/** What random code may refer to, and the small pieces of code that all its parts share. */

import type { SeededRandom } from '../../seeded-random.ts'
import type { ValueType } from '../oracle/instruction.ts'
import { OP } from '../oracle/instruction.ts'
import { leb } from '../oracle/numeric-stubs.ts'
import { signedLeb } from '../oracle/section-writer.ts'
import type { ModuleBuilder } from './module-builder.ts'

/** Which exception instructions a module uses. */
export type ExceptionFlavour = 'none' | 'legacy' | 'exnref'

/** What bodies may refer to. */
export interface RandomWorld {
  readonly builder: ModuleBuilder
  readonly random: SeededRandom
  readonly exceptions: ExceptionFlavour
  readonly vectors: boolean
  /** Functions that may be called, with their types. */
  readonly callees: readonly Callee[]
  /** Tag 0 carries nothing, tag 1 an i32. */
  readonly tags: readonly (readonly ValueType[])[]
  /** Globals by type; the countdown is not among them. */
  readonly globals: ReadonlyMap<ValueType, number>
  readonly countdown: number
  readonly memoryBytes: number
  readonly tableEntries: number
  /** Function entries at the start of table 0, by table index. */
  readonly tableCallees: readonly Callee[]
  readonly passiveDataBytes: number
  readonly passiveElements: number
}

/** A function that can be called. */
export interface Callee {
  readonly index: number
  readonly params: readonly ValueType[]
  readonly results: readonly ValueType[]
}

/** The types that values of random code have. */
export type CodeType = 'i32' | 'i64' | 'f32' | 'f64' | 'v128'

/** Encoded instructions. */
export type Code = number[]

/** Makes code that pushes one value; `depth` bounds how far it nests. */
export type MakeExpression = (type: CodeType, depth: number) => Code

/** The types that cross every boundary. */
export const SCALARS: readonly CodeType[] = ['i32', 'i64', 'f32', 'f64']

/** An i32 constant. */
export function i32Const(value: number): Code {
  return [0x41, ...signedLeb(BigInt(value))]
}

/** Turns a NaN (in a vector: every lane that is NaN as f32 or f64) into zero; needs a local of the type. */
export function withoutNan(type: CodeType, code: Code, local: number): Code {
  if (type === 'i32' || type === 'i64') return code
  const get = [OP.local_get, ...leb(local)]
  const kept = [...code, OP.local_tee, ...leb(local)]
  if (type === 'v128') {
    const f32 = [...get, ...get, 0xfd, 65, 0xfd, 78, OP.local_tee, ...leb(local)]
    return [...kept, ...f32, ...get, ...get, 0xfd, 71, 0xfd, 78]
  }
  const zero = type === 'f32' ? [0x43, 0, 0, 0, 0] : [0x44, 0, 0, 0, 0, 0, 0, 0, 0]
  return [...kept, ...zero, ...get, ...get, type === 'f32' ? 0x5b : 0x61, OP.select]
}
