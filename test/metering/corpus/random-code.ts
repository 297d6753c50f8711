/**
 * Random, valid, terminating function bodies.
 *
 * 1. Well typed by construction: `expression(type)` leaves exactly one value of that type, `statement()` none.
 * 2. Terminating: every branch to a loop and every call is guarded by the countdown global; when it runs out, loops
 *    are left and functions return at once.
 * 3. Rarely trapping: divisors are made odd, addresses masked, indices kept in range; about one operation in a few
 *    hundred is left raw, so that traps occur too.
 * 4. Reproducible across engines: results of float instructions that are NaN become 0 before anyone can see their bits.
 */
import type { ValueType } from '../oracle/instruction.ts'
import { OP } from '../oracle/instruction.ts'
import { leb, SCALAR_SIGNATURES, TYPE_CODES } from '../oracle/numeric-stubs.ts'
import { signedLeb } from '../oracle/section-writer.ts'
import { vectorOperands, vectorResult } from '../oracle/vector-stubs.ts'
import type { ModuleBuilder } from './module-builder.ts'
import type { SeededRandom } from './seeded-random.ts'

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

interface Label {
  readonly loop: boolean
  readonly results: readonly ValueType[]
}

type Bytes = number[]

const SCALARS: readonly CodeType[] = ['i32', 'i64', 'f32', 'f64']
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
const DIVISIONS = new Set([0x6d, 0x6e, 0x6f, 0x70, 0x7f, 0x80, 0x81, 0x82])
const TRUNCATIONS = new Set([0xa8, 0xa9, 0xaa, 0xab, 0xae, 0xaf, 0xb0, 0xb1])
const VOID = 0x40

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

/** Generates the code of one function. */
export class RandomCode {
  readonly #world: RandomWorld
  readonly #random: SeededRandom
  readonly #results: readonly ValueType[]
  readonly #locals: CodeType[]
  readonly #labels: Label[] = []
  /** How many more expressions and statements with parts may be opened. */
  #budget: number

  constructor(
    world: RandomWorld,
    params: readonly CodeType[],
    results: readonly ValueType[],
    locals: readonly CodeType[],
    budget: number,
  ) {
    this.#world = world
    this.#random = world.random
    this.#results = results
    this.#locals = [...params, ...locals]
    this.#budget = budget
  }

  /** The body, without the final `end`. */
  body(): Bytes {
    const { countdown } = this.#world
    const exhausted = [...this.#countdownRanOut(countdown), OP.if, VOID, ...this.#zeros(), OP.return, OP.end]
    return [...exhausted, ...this.#block([], 6), ...this.#finish()]
  }

  /** The function's results: computed, or by a tail call to a function of the same results. */
  #finish(): Bytes {
    const wanted = this.#results.join()
    const direct = this.#world.callees.filter(({ results }) => results.join() === wanted)
    if (direct.length > 0 && this.#random.oneIn(4)) {
      const callee = this.#random.pick(direct)
      return [...this.#arguments(callee), OP.return_call, ...leb(callee.index)]
    }
    const slots = this.#world.tableCallees.map((callee, slot) => ({ callee, slot }))
    const indirect = slots.filter(({ callee }) => callee.results.join() === wanted)
    if (indirect.length > 0 && this.#random.oneIn(6)) {
      const { callee, slot } = this.#random.pick(indirect)
      const type = this.#world.builder.type(callee.params, callee.results)
      const index = [0x41, ...signedLeb(BigInt(slot))]
      return [...this.#arguments(callee), ...index, OP.return_call_indirect, ...leb(type), 0]
    }
    return this.#results.flatMap((type) => this.expression(type as CodeType, 4))
  }

  /** One count less; then whether none is left. */
  #countdownRanOut(global: number): Bytes {
    const less = [OP.global_get, ...leb(global), 0x41, 1, 0x6b, OP.global_set, ...leb(global)]
    return [...less, OP.global_get, ...leb(global), 0x41, 0, 0x48]
  }

  #zeros(): Bytes {
    return this.#results.flatMap((type) => this.#constantBytes(type as CodeType, 0))
  }

  #arguments({ params }: Callee): Bytes {
    return params.flatMap((type) => this.expression(type as CodeType, 2))
  }

  /** Some statements inside the label given (none: the function's own level). */
  #block(labels: readonly Label[], depth: number): Bytes {
    this.#labels.push(...labels)
    const bytes: Bytes = []
    for (let left = 1 + this.#random.below(5); left > 0; left--) bytes.push(...this.statement(depth))
    this.#labels.length -= labels.length
    return bytes
  }

  /** Code that leaves the stack as it was. */
  statement(depth: number): Bytes {
    this.#budget -= 1
    if (depth <= 0 || this.#budget < 0) return this.#assignment()
    switch (this.#random.below(22)) {
      case 0:
      case 1:
        return this.#conditional(depth)
      case 2:
      case 3:
        return this.#loop(depth)
      case 4:
        return [OP.block, VOID, ...this.#block([plainLabel()], depth - 1), OP.end]
      case 5:
      case 6:
        return this.#branch(depth)
      case 7:
        return this.#branchTable(depth)
      case 8:
        return [...this.expression(this.#anyType(), depth), OP.drop]
      case 9:
      case 10:
        return this.#store(depth)
      case 11:
        return this.#bulk()
      case 12:
        return this.#tableStatement()
      case 13:
      case 14:
      case 15:
        return this.#protected(depth)
      case 16:
        return this.#callStatement(depth)
      case 17:
        return this.#multiValueBlock(depth)
      case 18:
        return this.#random.oneIn(12) ? this.#leave() : [OP.nop]
      default:
        return this.#assignment()
    }
  }

  #anyType(): CodeType {
    return this.#world.vectors && this.#random.oneIn(4) ? 'v128' : this.#random.pick(SCALARS)
  }

  #assignment(): Bytes {
    if (this.#random.oneIn(3)) {
      const [type, index] = this.#random.pick([...this.#world.globals])
      return [...this.expression(type as CodeType, 2), OP.global_set, ...leb(index)]
    }
    const local = this.#random.below(this.#locals.length)
    return [...this.expression(this.#locals[local] as CodeType, 3), OP.local_set, ...leb(local)]
  }

  #conditional(depth: number): Bytes {
    const condition = this.expression('i32', 2)
    const then = this.#block([plainLabel()], depth - 1)
    const otherwise = this.#random.oneIn(2) ? [OP.else, ...this.#block([plainLabel()], depth - 1)] : []
    return [...condition, OP.if, VOID, ...then, ...otherwise, OP.end]
  }

  /** A loop whose last instruction goes round again while the countdown lasts and a random condition holds. */
  #loop(depth: number): Bytes {
    const body = this.#block([{ loop: true, results: [] }], depth - 1)
    const again = [...this.#guard(), ...this.expression('i32', 2), 0x71, OP.br_if, 0]
    return [OP.loop, VOID, ...body, ...again, OP.end]
  }

  /** 1 while the countdown lasts. */
  #guard(): Bytes {
    return [...this.#countdownRanOut(this.#world.countdown), 0x45]
  }

  /** A branch to any label in reach that carries no value; to a loop only while the countdown lasts. */
  #branch(depth: number): Bytes {
    const targets = this.#targets(() => true)
    if (targets.length === 0) return this.#assignment()
    const target = this.#random.pick(targets)
    const guard = target.label.loop ? this.#guard() : this.expression('i32', Math.min(depth, 2))
    if (this.#random.oneIn(3)) return [...guard, OP.if, VOID, OP.br, ...leb(target.depth + 1), OP.end]
    return [...guard, OP.br_if, ...leb(target.depth)]
  }

  #targets(wanted: (label: Label) => boolean): { depth: number; label: Label }[] {
    return this.#labels
      .map((label, i) => ({ depth: this.#labels.length - 1 - i, label }))
      .filter(({ label }) => label.results.length === 0 && wanted(label))
  }

  #branchTable(depth: number): Bytes {
    const targets = this.#targets(() => true)
    if (targets.length === 0) return this.#assignment()
    const count = 1 + this.#random.below(5)
    const chosen = Array.from({ length: count + 1 }, () => this.#random.pick(targets))
    const guard = chosen.some(({ label }) => label.loop) ? this.#guard() : this.expression('i32', 1)
    const index = [...this.expression('i32', Math.min(depth, 2)), 0x41, 7, 0x71]
    const labels = chosen.flatMap((target) => leb(target.depth + 1))
    return [...guard, OP.if, VOID, ...index, OP.br_table, ...leb(count), ...labels, OP.end]
  }

  #store(depth: number): Bytes {
    const type = this.#anyType()
    if (type === 'v128') {
      const value = this.expression('v128', depth - 1)
      if (this.#random.oneIn(2))
        return [...this.#address(), ...value, 0xfd, 11, 0, ...leb(this.#random.below(64))]
      const lane = this.#random.below(4)
      return [...this.#address(), ...value, 0xfd, 88 + lane, 0, 4, this.#random.below(16 >> lane)]
    }
    const offset = leb(this.#random.below(300))
    return [
      ...this.#address(),
      ...this.expression(type, depth - 1),
      this.#random.pick(STORES[type]),
      0,
      ...offset,
    ]
  }

  #address(): Bytes {
    const address = this.expression('i32', 1)
    if (this.#random.oneIn(150)) return address
    return [...address, 0x41, ...signedLeb(BigInt(this.#random.pick([0xff, 0x7fff]))), 0x71]
  }

  /** A number from 0 to `below - 1`: a constant or computed. */
  #number(below: number): Bytes {
    if (this.#random.oneIn(2)) return [0x41, ...signedLeb(BigInt(this.#random.below(below)))]
    return [...this.expression('i32', 1), 0x41, ...signedLeb(BigInt(Math.max(1, below))), 0x70]
  }

  #bulkLength(limit: number): Bytes {
    const bound = this.#random.oneIn(8) ? limit >> 1 : Math.min(300, limit)
    return this.#number(Math.max(1, bound))
  }

  #bulk(): Bytes {
    const { memoryBytes, passiveDataBytes } = this.#world
    const place = (): Bytes => this.#number(memoryBytes >> 1)
    switch (this.#random.below(5)) {
      case 0:
        return [...place(), ...this.expression('i32', 1), ...this.#bulkLength(memoryBytes), 0xfc, 11, 0]
      case 1:
        return [...place(), ...place(), ...this.#bulkLength(memoryBytes), 0xfc, 10, 0, 0]
      case 2: {
        const [from, length] = [this.#number(passiveDataBytes >> 1), this.#number(passiveDataBytes >> 1)]
        return [...place(), ...from, ...length, 0xfc, 8, 0, 0]
      }
      case 3:
        return this.#random.oneIn(20) ? [0xfc, 9, 0] : [OP.nop]
      default:
        return [0x41, ...signedLeb(BigInt(this.#random.below(3))), OP.memory_grow, 0, OP.drop]
    }
  }

  #tableStatement(): Bytes {
    const { tableEntries, passiveElements, callees, tableCallees } = this.#world
    const function_ = [OP.ref_func, ...leb(this.#random.pick(callees).index)]
    const free = Math.max(1, (tableEntries - tableCallees.length) >> 1)
    const place = (): Bytes => [...this.#number(free), 0x41, ...signedLeb(BigInt(tableCallees.length)), 0x6a]
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

  #leave(): Bytes {
    return this.#random.oneIn(8) ? [OP.unreachable] : [...this.#finish(), OP.return]
  }

  #throw(): Bytes {
    const tag = this.#random.below(this.#world.tags.length)
    const payload = (this.#world.tags[tag] ?? []).flatMap((type) => this.expression(type as CodeType, 1))
    return [...payload, OP.throw, tag]
  }

  /** A conditional throw. */
  #maybeThrow(): Bytes {
    return [...this.expression('i32', 2), 0x41, 3, 0x71, 0x45, OP.if, VOID, ...this.#throw(), OP.end]
  }

  /** Statements inside a `try`, of which every second ends in a conditional throw. */
  #throwingBlock(labels: readonly Label[], depth: number): Bytes {
    const bytes = this.#block(labels, depth)
    if (this.#random.oneIn(2)) return bytes
    this.#labels.push(...labels)
    bytes.push(...this.#maybeThrow())
    this.#labels.length -= labels.length
    return bytes
  }

  #protected(depth: number): Bytes {
    const { exceptions } = this.#world
    if (exceptions === 'none') return this.#assignment()
    if (this.#random.oneIn(3)) return this.#maybeThrow()
    return exceptions === 'legacy' ? this.#legacyTry(depth) : this.#tryTable(depth)
  }

  #legacyTry(depth: number): Bytes {
    const body = this.#throwingBlock([plainLabel()], depth - 1)
    if (this.#random.oneIn(5)) {
      const target = this.#random.below(this.#labels.length + 1)
      return [OP.try, VOID, ...body, OP.delegate, ...leb(target)]
    }
    const handler = (): Bytes => this.#block([{ loop: false, results: [] }], depth - 1)
    const rethrow = this.#random.oneIn(4) ? [OP.rethrow, 0] : []
    const bytes: Bytes = [OP.try, VOID, ...body]
    if (this.#random.oneIn(2)) bytes.push(OP.catch, 0, ...handler())
    if (this.#random.oneIn(2)) bytes.push(OP.catch, 1, ...this.#storePayload(), ...handler())
    if (this.#random.oneIn(2)) bytes.push(OP.catch_all, ...handler(), ...rethrow)
    bytes.push(OP.end)
    return bytes
  }

  /** Puts an i32 payload into the i32 global. */
  #storePayload(): Bytes {
    return [OP.global_set, ...leb(this.#world.globals.get('i32') ?? 0)]
  }

  #tryTable(depth: number): Bytes {
    const label = plainLabel()
    if (this.#random.oneIn(3)) {
      const body = this.#throwingBlock([label, label], depth - 1)
      return [OP.block, VOID, OP.try_table, VOID, ...[1, 2, 0], ...body, OP.end, OP.end]
    }
    const byReference = this.#random.oneIn(2)
    const caught: ValueType = byReference ? 'exnref' : 'i32'
    const clause = byReference ? [1, 3, 0] : [1, 0, 1, 0]
    const body = this.#throwingBlock([label, { loop: false, results: [caught] }, label], depth - 1)
    const code = [OP.try_table, VOID, ...clause, ...body, OP.end, OP.br, 1]
    const useReference = this.#random.oneIn(2) ? [OP.throw_ref] : [OP.drop]
    const use = byReference ? useReference : this.#storePayload()
    return [OP.block, VOID, OP.block, TYPE_CODES[caught], ...code, OP.end, ...use, OP.end]
  }

  #callStatement(depth: number): Bytes {
    const callee = this.#random.pick(this.#world.callees)
    if (depth < 2) return this.#assignment()
    const drops = callee.results.map(() => OP.drop)
    return [...this.#arguments(callee), OP.call, ...leb(callee.index), ...drops]
  }

  /** A block with two parameters and two results, left by a branch or by falling through. */
  #multiValueBlock(depth: number): Bytes {
    const types: readonly CodeType[] = [this.#random.pick(SCALARS), this.#random.pick(SCALARS)]
    const type = this.#world.builder.type(types, types)
    const values = types.flatMap((item) => this.expression(item, 2))
    const inside = this.#block([{ loop: false, results: types }], depth - 1)
    const leave = this.#random.oneIn(2) ? [...this.expression('i32', 1), OP.br_if, 0] : []
    return [...values, OP.block, ...signedLeb(BigInt(type)), ...inside, ...leave, OP.end, OP.drop, OP.drop]
  }

  /** Code that pushes one value. */
  expression(type: CodeType, depth: number): Bytes {
    this.#budget -= 1
    if (depth <= 0 || this.#budget < 0) return this.#leaf(type)
    switch (this.#random.below(14)) {
      case 0:
        return this.#choice(type, depth)
      case 1:
        return this.#valueBlock(type, depth)
      case 2:
        return this.#load(type)
      case 3:
        return this.#select(type, depth)
      case 4:
        return this.#callExpression(type)
      case 5:
        return this.#tee(type, depth)
      case 6:
        return this.#size(type)
      case 7:
      case 8:
        return this.#leaf(type)
      default:
        return this.#operation(type, depth)
    }
  }

  #leaf(type: CodeType): Bytes {
    const locals = this.#locals.map((local, i) => (local === type ? i : -1)).filter((i) => i >= 0)
    if (locals.length > 0 && this.#random.oneIn(2)) return [OP.local_get, ...leb(this.#random.pick(locals))]
    const global = this.#world.globals.get(type)
    if (global !== undefined && this.#random.oneIn(3)) return [OP.global_get, ...leb(global)]
    return this.#constantBytes(
      type,
      this.#random.oneIn(4) ? this.#random.u32() | 0 : this.#random.below(64) - 8,
    )
  }

  #constantBytes(type: CodeType, value: number): Bytes {
    if (type === 'i32') return [0x41, ...signedLeb(BigInt(value))]
    if (type === 'i64') return [0x42, ...signedLeb(BigInt(value) * (value > 50 ? 0x1_0000_0001n : 1n))]
    if (type === 'v128') return [0xfd, 12, ...this.#random.bytes(16).map((byte) => byte & 0x3f)]
    const view = new DataView(new ArrayBuffer(8))
    if (type === 'f32') view.setFloat32(0, value / 4, true)
    else view.setFloat64(0, value / 4, true)
    return [type === 'f32' ? 0x43 : 0x44, ...new Uint8Array(view.buffer, 0, type === 'f32' ? 4 : 8)]
  }

  #choice(type: CodeType, depth: number): Bytes {
    const label: Label = { loop: false, results: [type] }
    const condition = this.expression('i32', depth - 1)
    this.#labels.push(label)
    const [then, otherwise] = [this.expression(type, depth - 1), this.expression(type, depth - 1)]
    this.#labels.pop()
    return [...condition, OP.if, TYPE_CODES[type], ...then, OP.else, ...otherwise, OP.end]
  }

  /** A block with a result that `br_if` may leave early. */
  #valueBlock(type: CodeType, depth: number): Bytes {
    this.#labels.push({ loop: false, results: [type] })
    const statements = depth > 2 ? this.statement(depth - 2) : []
    const early = this.expression(type, depth - 1)
    const condition = this.expression('i32', 1)
    const late = this.expression(type, depth - 1)
    this.#labels.pop()
    const leave = [...early, ...condition, OP.br_if, 0, OP.drop]
    return [OP.block, TYPE_CODES[type], ...statements, ...leave, ...late, OP.end]
  }

  #load(type: CodeType): Bytes {
    const offset = leb(this.#random.below(300))
    if (type === 'v128') {
      const sub = this.#random.pick([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 92, 93, 84, 85, 86, 87])
      if (sub < 84 || sub > 87) return [...this.#address(), 0xfd, sub, 0, ...offset]
      const lane = this.#random.below(16 >> (sub - 84))
      return [...this.#address(), ...this.#leaf('v128'), 0xfd, sub, 0, ...offset, lane]
    }
    return withoutNan(
      type,
      [...this.#address(), this.#random.pick(LOADS[type]), 0, ...offset],
      this.#local(type),
    )
  }

  #select(type: CodeType, depth: number): Bytes {
    const values = [...this.expression(type, depth - 1), ...this.expression(type, depth - 1)]
    const typed = this.#random.oneIn(2) ? [OP.select_typed, 1, TYPE_CODES[type]] : [OP.select]
    return [...values, ...this.expression('i32', 1), ...typed]
  }

  #callExpression(type: CodeType): Bytes {
    const callees = this.#world.callees.filter(({ results }) => results.length === 1 && results[0] === type)
    if (callees.length > 0 && this.#random.oneIn(2)) {
      const callee = this.#random.pick(callees)
      return [...this.#arguments(callee), OP.call, ...leb(callee.index)]
    }
    const slots = this.#world.tableCallees
      .map((callee, slot) => ({ callee, slot }))
      .filter(({ callee }) => callee.results.length === 1 && callee.results[0] === type)
    if (slots.length === 0) return this.#leaf(type)
    const { callee, slot } = this.#random.pick(slots)
    const typeIndex = this.#world.builder.type(callee.params, callee.results)
    const index = this.#constantBytes('i32', this.#random.oneIn(40) ? slot + 1 : slot)
    return [...this.#arguments(callee), ...index, OP.call_indirect, ...leb(typeIndex), 0]
  }

  /** A local of this type, which every function has. */
  #local(type: CodeType): number {
    return this.#locals.lastIndexOf(type)
  }

  #tee(type: CodeType, depth: number): Bytes {
    return [...this.expression(type, depth - 1), OP.local_tee, ...leb(this.#local(type))]
  }

  #size(type: CodeType): Bytes {
    if (type !== 'i32') return this.#leaf(type)
    return this.#random.oneIn(2) ? [OP.memory_size, 0] : [0xfc, 16, 0]
  }

  #operation(type: CodeType, depth: number): Bytes {
    const vectors = this.#world.vectors ? (VECTOR_OPCODES.get(type) ?? []) : []
    if (vectors.length > 0 && (type === 'v128' || this.#random.oneIn(5)))
      return this.#vectorOperation(type, this.#random.pick(vectors), depth)
    const candidates = SCALAR_OPCODES.get(type) ?? []
    if (candidates.length === 0) return this.#leaf(type)
    const [opcode, { operands }] = this.#random.pick(candidates)
    if (TRUNCATIONS.has(opcode) && !this.#random.oneIn(60)) return this.#leaf(type)
    const bytes = operands.flatMap((operand) => this.expression(operand as CodeType, depth - 1))
    if (DIVISIONS.has(opcode)) bytes.push(...this.#oddDivisor(type))
    const code = opcode > 0xff ? [opcode >> 12, opcode & 0xfff] : [opcode]
    return withoutNan(type, [...bytes, ...code], this.#local(type))
  }

  /** Makes the divisor on the stack odd and positive, so that division neither traps on 0 nor on overflow. */
  #oddDivisor(type: CodeType): Bytes {
    if (this.#random.oneIn(60)) return []
    return type === 'i32' ? [0x41, 0xff, 0, 0x71, 0x41, 1, 0x72] : [0x42, 0xff, 0, 0x83, 0x42, 1, 0x84]
  }

  #vectorOperation(type: CodeType, sub: number, depth: number): Bytes {
    if (this.#random.oneIn(12) && type === 'v128') return this.#shuffle(depth)
    const operands = vectorOperands(sub).flatMap((operand) => this.expression(operand as CodeType, depth - 1))
    const lane = isLaneInstruction(sub) ? [this.#random.below(laneCount(sub))] : []
    return withoutNan(type, [...operands, 0xfd, ...leb(sub), ...lane], this.#local(type))
  }

  #shuffle(depth: number): Bytes {
    const operands = [...this.expression('v128', depth - 1), ...this.expression('v128', depth - 1)]
    return [...operands, 0xfd, 13, ...this.#random.bytes(16).map((byte) => byte & 31)]
  }
}

function plainLabel(): Label {
  return { loop: false, results: [] }
}

/** Turns a NaN (in a vector: every lane that is NaN as f32 or f64) into zero; needs a local of the type. */
function withoutNan(type: CodeType, code: Bytes, local: number): Bytes {
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
