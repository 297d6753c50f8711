import type { SeededRandom } from '../../seeded-random.ts'
import { leb, SCALAR_SIGNATURES } from '../oracle/numeric-stubs.ts'
import { vectorOperands, vectorResult } from '../oracle/vector-stubs.ts'
import {
  type Code,
  type CodeType,
  type MakeExpression,
  type RandomWorld,
  SCALARS,
  withoutNan,
} from './random-world.ts'

const DIVISIONS = new Set([0x6d, 0x6e, 0x6f, 0x70, 0x7f, 0x80, 0x81, 0x82])
const TRUNCATIONS = new Set([0xa8, 0xa9, 0xaa, 0xab, 0xae, 0xaf, 0xb0, 0xb1])

/** Scalar opcodes by the type of their result. */
const SCALAR_OPCODES = new Map(
  SCALARS.map((type) => [type, [...SCALAR_SIGNATURES].filter(([, { result }]) => result === type)]),
)

/** SIMD sub-opcodes without memory access, by the type of their result. */
const VECTOR_OPCODES = new Map(
  [...SCALARS, 'v128' as const].map((type) => [
    type,
    Array.from({ length: 256 }, (_, sub) => sub).filter((sub) => vectorResult(sub) === type),
  ]),
)

function isLaneInstruction(sub: number): boolean {
  return sub >= 21 && sub <= 34
}

/** How many lanes the instructions 21 to 34 address. */
function laneCount(sub: number): number {
  if (sub <= 23) return 16
  if (sub <= 26) return 8
  return sub <= 28 || sub === 31 || sub === 32 ? 4 : 2
}

/** Makes operations; operands come from `expression`. */
export class RandomOperations {
  readonly #world: RandomWorld
  readonly #random: SeededRandom
  readonly #expression: MakeExpression

  constructor(world: RandomWorld, expression: MakeExpression) {
    this.#world = world
    this.#random = world.random
    this.#expression = expression
  }

  /** An instruction that gives this type, with its operands; `local` is a local of the type. Undefined: none suits. */
  operation(type: CodeType, depth: number, local: number): Code | undefined {
    const vectors = this.#world.vectors ? (VECTOR_OPCODES.get(type) ?? []) : []
    if (vectors.length > 0 && (type === 'v128' || this.#random.oneIn(5)))
      return this.#vectorOperation(type, this.#random.pick(vectors), depth, local)
    const candidates = SCALAR_OPCODES.get(type) ?? []
    if (candidates.length === 0) return undefined
    const [opcode, { operands }] = this.#random.pick(candidates)
    if (TRUNCATIONS.has(opcode) && !this.#random.oneIn(60)) return undefined
    const bytes = operands.flatMap((operand) => this.#expression(operand as CodeType, depth - 1))
    if (DIVISIONS.has(opcode)) bytes.push(...this.#oddDivisor(type))
    const code = opcode > 0xff ? [opcode >> 12, opcode & 0xfff] : [opcode]
    return withoutNan(type, [...bytes, ...code], local)
  }

  /** Makes the divisor on the stack odd and positive, so that division neither traps on 0 nor on overflow. */
  #oddDivisor(type: CodeType): Code {
    if (this.#random.oneIn(60)) return []
    return type === 'i32' ? [0x41, 0xff, 0, 0x71, 0x41, 1, 0x72] : [0x42, 0xff, 0, 0x83, 0x42, 1, 0x84]
  }

  #vectorOperation(type: CodeType, sub: number, depth: number, local: number): Code {
    if (this.#random.oneIn(12) && type === 'v128') return this.#shuffle(depth)
    const operands = vectorOperands(sub).flatMap((operand) =>
      this.#expression(operand as CodeType, depth - 1),
    )
    const lane = isLaneInstruction(sub) ? [this.#random.below(laneCount(sub))] : []
    return withoutNan(type, [...operands, 0xfd, ...leb(sub), ...lane], local)
  }

  #shuffle(depth: number): Code {
    const operands = [...this.#expression('v128', depth - 1), ...this.#expression('v128', depth - 1)]
    return [...operands, 0xfd, 13, ...this.#random.bytes(16).map((byte) => byte & 31)]
  }
}
