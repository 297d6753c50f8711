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

import type { SeededRandom } from '../../seeded-random.ts'
import type { ValueType } from '../oracle/instruction.ts'
import { OP } from '../oracle/instruction.ts'
import { leb, TYPE_CODES } from '../oracle/numeric-stubs.ts'
import { signedLeb } from '../oracle/section-writer.ts'
import { RandomMemory } from './random-memory.ts'
import { RandomOperations } from './random-operations.ts'
import {
  type Callee,
  type Code,
  type CodeType,
  type MakeExpression,
  type RandomWorld,
  SCALARS,
} from './random-world.ts'

interface Label {
  readonly loop: boolean
  readonly results: readonly ValueType[]
}

const VOID = 0x40

/** Generates the code of one function. */
export class RandomCode {
  readonly #world: RandomWorld
  readonly #random: SeededRandom
  readonly #results: readonly ValueType[]
  readonly #locals: CodeType[]
  readonly #labels: Label[] = []
  readonly #memory: RandomMemory
  readonly #operations: RandomOperations
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
    const expression: MakeExpression = (type, depth) => this.expression(type, depth)
    this.#memory = new RandomMemory(world, expression)
    this.#operations = new RandomOperations(world, expression)
  }

  /** The body, without the final `end`. */
  body(): Code {
    const { countdown } = this.#world
    const exhausted = [...this.#countdownRanOut(countdown), OP.if, VOID, ...this.#zeros(), OP.return, OP.end]
    return [...exhausted, ...this.#block([], 6), ...this.#finish()]
  }

  /** The function's results: computed, or by a tail call to a function of the same results. */
  #finish(): Code {
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
  #countdownRanOut(global: number): Code {
    const less = [OP.global_get, ...leb(global), 0x41, 1, 0x6b, OP.global_set, ...leb(global)]
    return [...less, OP.global_get, ...leb(global), 0x41, 0, 0x48]
  }

  #zeros(): Code {
    return this.#results.flatMap((type) => this.#constantCode(type as CodeType, 0))
  }

  #arguments({ params }: Callee): Code {
    return params.flatMap((type) => this.expression(type as CodeType, 2))
  }

  /** Some statements inside the label given (none: the function's own level). */
  #block(labels: readonly Label[], depth: number): Code {
    this.#labels.push(...labels)
    const bytes: Code = []
    for (let left = 1 + this.#random.below(5); left > 0; left--) bytes.push(...this.statement(depth))
    this.#labels.length -= labels.length
    return bytes
  }

  /** Code that leaves the stack as it was. */
  statement(depth: number): Code {
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
        return this.#memory.store(this.#anyType(), depth)
      case 11:
        return this.#memory.bulk()
      case 12:
        return this.#memory.tableStatement()
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

  #assignment(): Code {
    if (this.#random.oneIn(3)) {
      const [type, index] = this.#random.pick([...this.#world.globals])
      return [...this.expression(type as CodeType, 2), OP.global_set, ...leb(index)]
    }
    const local = this.#random.below(this.#locals.length)
    return [...this.expression(this.#locals[local] as CodeType, 3), OP.local_set, ...leb(local)]
  }

  #conditional(depth: number): Code {
    const condition = this.expression('i32', 2)
    const then = this.#block([plainLabel()], depth - 1)
    const otherwise = this.#random.oneIn(2) ? [OP.else, ...this.#block([plainLabel()], depth - 1)] : []
    return [...condition, OP.if, VOID, ...then, ...otherwise, OP.end]
  }

  /** A loop whose last instruction goes round again while the countdown lasts and a random condition holds. */
  #loop(depth: number): Code {
    const body = this.#block([{ loop: true, results: [] }], depth - 1)
    const again = [...this.#guard(), ...this.expression('i32', 2), 0x71, OP.br_if, 0]
    return [OP.loop, VOID, ...body, ...again, OP.end]
  }

  /** 1 while the countdown lasts. */
  #guard(): Code {
    return [...this.#countdownRanOut(this.#world.countdown), 0x45]
  }

  /** A branch to any label in reach that carries no value; to a loop only while the countdown lasts. */
  #branch(depth: number): Code {
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

  #branchTable(depth: number): Code {
    const targets = this.#targets(() => true)
    if (targets.length === 0) return this.#assignment()
    const count = 1 + this.#random.below(5)
    const chosen = Array.from({ length: count + 1 }, () => this.#random.pick(targets))
    const guard = chosen.some(({ label }) => label.loop) ? this.#guard() : this.expression('i32', 1)
    const index = [...this.expression('i32', Math.min(depth, 2)), 0x41, 7, 0x71]
    const labels = chosen.flatMap((target) => leb(target.depth + 1))
    return [...guard, OP.if, VOID, ...index, OP.br_table, ...leb(count), ...labels, OP.end]
  }

  #leave(): Code {
    return this.#random.oneIn(8) ? [OP.unreachable] : [...this.#finish(), OP.return]
  }

  #throw(): Code {
    const tag = this.#random.below(this.#world.tags.length)
    const payload = (this.#world.tags[tag] ?? []).flatMap((type) => this.expression(type as CodeType, 1))
    return [...payload, OP.throw, tag]
  }

  /** A conditional throw. */
  #maybeThrow(): Code {
    return [...this.expression('i32', 2), 0x41, 3, 0x71, 0x45, OP.if, VOID, ...this.#throw(), OP.end]
  }

  /** Statements inside a `try`, of which every second ends in a conditional throw. */
  #throwingBlock(labels: readonly Label[], depth: number): Code {
    const bytes = this.#block(labels, depth)
    if (this.#random.oneIn(2)) return bytes
    this.#labels.push(...labels)
    bytes.push(...this.#maybeThrow())
    this.#labels.length -= labels.length
    return bytes
  }

  #protected(depth: number): Code {
    const { exceptions } = this.#world
    if (exceptions === 'none') return this.#assignment()
    if (this.#random.oneIn(3)) return this.#maybeThrow()
    return exceptions === 'legacy' ? this.#legacyTry(depth) : this.#tryTable(depth)
  }

  #legacyTry(depth: number): Code {
    const body = this.#throwingBlock([plainLabel()], depth - 1)
    if (this.#random.oneIn(5)) {
      const target = this.#random.below(this.#labels.length + 1)
      return [OP.try, VOID, ...body, OP.delegate, ...leb(target)]
    }
    const handler = (): Code => this.#block([{ loop: false, results: [] }], depth - 1)
    const rethrow = this.#random.oneIn(4) ? [OP.rethrow, 0] : []
    const bytes: Code = [OP.try, VOID, ...body]
    if (this.#random.oneIn(2)) bytes.push(OP.catch, 0, ...handler())
    if (this.#random.oneIn(2)) bytes.push(OP.catch, 1, ...this.#storePayload(), ...handler())
    if (this.#random.oneIn(2)) bytes.push(OP.catch_all, ...handler(), ...rethrow)
    bytes.push(OP.end)
    return bytes
  }

  /** Puts an i32 payload into the i32 global. */
  #storePayload(): Code {
    return [OP.global_set, ...leb(this.#world.globals.get('i32') ?? 0)]
  }

  #tryTable(depth: number): Code {
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

  #callStatement(depth: number): Code {
    const callee = this.#random.pick(this.#world.callees)
    if (depth < 2) return this.#assignment()
    const drops = callee.results.map(() => OP.drop)
    return [...this.#arguments(callee), OP.call, ...leb(callee.index), ...drops]
  }

  /** A block with two parameters and two results, left by a branch or by falling through. */
  #multiValueBlock(depth: number): Code {
    const types: readonly CodeType[] = [this.#random.pick(SCALARS), this.#random.pick(SCALARS)]
    const type = this.#world.builder.type(types, types)
    const values = types.flatMap((item) => this.expression(item, 2))
    const inside = this.#block([{ loop: false, results: types }], depth - 1)
    const leave = this.#random.oneIn(2) ? [...this.expression('i32', 1), OP.br_if, 0] : []
    return [...values, OP.block, ...signedLeb(BigInt(type)), ...inside, ...leave, OP.end, OP.drop, OP.drop]
  }

  /** Code that pushes one value. */
  expression(type: CodeType, depth: number): Code {
    this.#budget -= 1
    if (depth <= 0 || this.#budget < 0) return this.#leaf(type)
    switch (this.#random.below(14)) {
      case 0:
        return this.#choice(type, depth)
      case 1:
        return this.#valueBlock(type, depth)
      case 2:
        return this.#memory.load(type, () => this.#leaf('v128'), this.#local(type))
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
        return this.#operations.operation(type, depth, this.#local(type)) ?? this.#leaf(type)
    }
  }

  #leaf(type: CodeType): Code {
    const locals = this.#locals.map((local, i) => (local === type ? i : -1)).filter((i) => i >= 0)
    if (locals.length > 0 && this.#random.oneIn(2)) return [OP.local_get, ...leb(this.#random.pick(locals))]
    const global = this.#world.globals.get(type)
    if (global !== undefined && this.#random.oneIn(3)) return [OP.global_get, ...leb(global)]
    return this.#constantCode(
      type,
      this.#random.oneIn(4) ? this.#random.u32() | 0 : this.#random.below(64) - 8,
    )
  }

  #constantCode(type: CodeType, value: number): Code {
    if (type === 'i32') return [0x41, ...signedLeb(BigInt(value))]
    if (type === 'i64') return [0x42, ...signedLeb(BigInt(value) * (value > 50 ? 0x1_0000_0001n : 1n))]
    if (type === 'v128') return [0xfd, 12, ...this.#random.bytes(16).map((byte) => byte & 0x3f)]
    const view = new DataView(new ArrayBuffer(8))
    if (type === 'f32') view.setFloat32(0, value / 4, true)
    else view.setFloat64(0, value / 4, true)
    return [type === 'f32' ? 0x43 : 0x44, ...new Uint8Array(view.buffer, 0, type === 'f32' ? 4 : 8)]
  }

  #choice(type: CodeType, depth: number): Code {
    const label: Label = { loop: false, results: [type] }
    const condition = this.expression('i32', depth - 1)
    this.#labels.push(label)
    const [then, otherwise] = [this.expression(type, depth - 1), this.expression(type, depth - 1)]
    this.#labels.pop()
    return [...condition, OP.if, TYPE_CODES[type], ...then, OP.else, ...otherwise, OP.end]
  }

  /** A block with a result that `br_if` may leave early. */
  #valueBlock(type: CodeType, depth: number): Code {
    this.#labels.push({ loop: false, results: [type] })
    const statements = depth > 2 ? this.statement(depth - 2) : []
    const early = this.expression(type, depth - 1)
    const condition = this.expression('i32', 1)
    const late = this.expression(type, depth - 1)
    this.#labels.pop()
    const leave = [...early, ...condition, OP.br_if, 0, OP.drop]
    return [OP.block, TYPE_CODES[type], ...statements, ...leave, ...late, OP.end]
  }

  #select(type: CodeType, depth: number): Code {
    const values = [...this.expression(type, depth - 1), ...this.expression(type, depth - 1)]
    const typed = this.#random.oneIn(2) ? [OP.select_typed, 1, TYPE_CODES[type]] : [OP.select]
    return [...values, ...this.expression('i32', 1), ...typed]
  }

  #callExpression(type: CodeType): Code {
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
    const index = this.#constantCode('i32', this.#random.oneIn(40) ? slot + 1 : slot)
    return [...this.#arguments(callee), ...index, OP.call_indirect, ...leb(typeIndex), 0]
  }

  /** A local of this type, which every function has. */
  #local(type: CodeType): number {
    return this.#locals.lastIndexOf(type)
  }

  #tee(type: CodeType, depth: number): Code {
    return [...this.expression(type, depth - 1), OP.local_tee, ...leb(this.#local(type))]
  }

  /** The size of the memory or of the table. */
  #size(type: CodeType): Code {
    if (type !== 'i32') return this.#leaf(type)
    return this.#random.oneIn(2) ? [OP.memory_size, 0] : [0xfc, 16, 0]
  }
}

function plainLabel(): Label {
  return { loop: false, results: [] }
}
