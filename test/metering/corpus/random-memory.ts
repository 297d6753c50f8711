/** Random loads, stores, bulk instructions and table instructions, nearly all of them in bounds. */

import type { SeededRandom } from '../../seeded-random.ts'
import { OP } from '../oracle/instruction.ts'
import { leb, TYPE_CODES } from '../oracle/numeric-stubs.ts'
import {
  type Code,
  type CodeType,
  i32Const,
  type MakeExpression,
  type RandomWorld,
  withoutNan,
} from './random-world.ts'

const LOADS: Readonly<Record<CodeType, readonly number[]>> = {
  i32: [0x28, 0x2c, 0x2d, 0x2e, 0x2f],
  i64: [0x29, 0x30, 0x31, 0x32, 0x33, 0x34, 0x35],
  f32: [0x2a],
  f64: [0x2b],
  v128: [],
}
const STORES: Readonly<Record<CodeType, readonly number[]>> = {
  i32: [0x36, 0x3a, 0x3b],
  i64: [0x37, 0x3c, 0x3d, 0x3e],
  f32: [0x38],
  f64: [0x39],
  v128: [],
}

/** Makes code that touches memory and tables; operands come from `expression`. */
export class RandomMemory {
  readonly #world: RandomWorld
  readonly #random: SeededRandom
  readonly #expression: MakeExpression

  constructor(world: RandomWorld, expression: MakeExpression) {
    this.#world = world
    this.#random = world.random
    this.#expression = expression
  }

  /** Stores a value of this type. */
  store(type: CodeType, depth: number): Code {
    if (type === 'v128') {
      const value = this.#expression('v128', depth - 1)
      if (this.#random.oneIn(2))
        return [...this.#address(), ...value, 0xfd, 11, 0, ...leb(this.#random.below(64))]
      const lane = this.#random.below(4)
      return [...this.#address(), ...value, 0xfd, 88 + lane, 0, 4, this.#random.below(16 >> lane)]
    }
    const offset = leb(this.#random.below(300))
    return [
      ...this.#address(),
      ...this.#expression(type, depth - 1),
      this.#random.pick(STORES[type]),
      0,
      ...offset,
    ]
  }

  #address(): Code {
    const address = this.#expression('i32', 1)
    if (this.#random.oneIn(150)) return address
    return [...address, ...i32Const(this.#random.pick([0xff, 0x7fff])), 0x71]
  }

  /** A number from 0 to `below - 1`: a constant or computed. */
  #number(below: number): Code {
    if (this.#random.oneIn(2)) return i32Const(this.#random.below(below))
    return [...this.#expression('i32', 1), ...i32Const(Math.max(1, below)), 0x70]
  }

  #bulkLength(limit: number): Code {
    const bound = this.#random.oneIn(8) ? limit >> 1 : Math.min(300, limit)
    return this.#number(Math.max(1, bound))
  }

  /** A bulk memory instruction or a growth. */
  bulk(): Code {
    const { memoryBytes, passiveDataBytes } = this.#world
    const place = (): Code => this.#number(memoryBytes >> 1)
    switch (this.#random.below(5)) {
      case 0:
        return [...place(), ...this.#expression('i32', 1), ...this.#bulkLength(memoryBytes), 0xfc, 11, 0]
      case 1:
        return [...place(), ...place(), ...this.#bulkLength(memoryBytes), 0xfc, 10, 0, 0]
      case 2: {
        const [from, length] = [this.#number(passiveDataBytes >> 1), this.#number(passiveDataBytes >> 1)]
        return [...place(), ...from, ...length, 0xfc, 8, 0, 0]
      }
      case 3:
        return this.#random.oneIn(20) ? [0xfc, 9, 0] : [OP.nop]
      default:
        return [...i32Const(this.#random.below(3)), OP.memory_grow, 0, OP.drop]
    }
  }

  /** A table instruction. */
  tableStatement(): Code {
    const { tableEntries, passiveElements, callees, tableCallees } = this.#world
    const function_ = [OP.ref_func, ...leb(this.#random.pick(callees).index)]
    const free = Math.max(1, (tableEntries - tableCallees.length) >> 1)
    const place = (): Code => [...this.#number(free), ...i32Const(tableCallees.length), 0x6a]
    switch (this.#random.below(6)) {
      case 0:
        return [...place(), ...function_, OP.table_set, 0]
      case 1:
        return [...place(), OP.table_get, 0, OP.ref_is_null, OP.drop]
      case 2:
        return [...place(), ...function_, ...this.#bulkLength(free), 0xfc, 17, 0]
      case 3:
        return [...place(), ...place(), ...this.#bulkLength(free), 0xfc, 14, 0, 0]
      case 4: {
        const range = [...this.#number(passiveElements >> 1), ...this.#number(passiveElements >> 1)]
        return [...place(), ...range, 0xfc, 12, 0, 0]
      }
      default:
        return [OP.ref_null, TYPE_CODES.funcref, ...this.#number(20), 0xfc, 15, 0, OP.drop]
    }
  }

  /** Loads a value; `vector` pushes a vector for lane loads, `local` is a local of the type. */
  load(type: CodeType, vector: () => Code, local: number): Code {
    const offset = leb(this.#random.below(300))
    if (type === 'v128') {
      const sub = this.#random.pick([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 92, 93, 84, 85, 86, 87])
      if (sub < 84 || sub > 87) return [...this.#address(), 0xfd, sub, 0, ...offset]
      const lane = this.#random.below(16 >> (sub - 84))
      return [...this.#address(), ...vector(), 0xfd, sub, 0, ...offset, lane]
    }
    return withoutNan(type, [...this.#address(), this.#random.pick(LOADS[type]), 0, ...offset], local)
  }
}
