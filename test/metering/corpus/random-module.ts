/**
 * A random module from a seed: some functions that call each other directly and through a table, over one memory.
 *
 * Every exported `run.N` sets the countdown that bounds its work and calls one function with constant arguments. Some
 * modules have memories and tables that are larger than the pieces in which bulk instructions are metered.
 */

import { SeededRandom } from '../../seeded-random.ts'
import type { ValueType } from '../oracle/instruction.ts'
import { OP } from '../oracle/instruction.ts'
import { leb } from '../oracle/numeric-stubs.ts'
import { signedLeb } from '../oracle/section-writer.ts'
import { ModuleBuilder } from './module-builder.ts'
import { RandomCode } from './random-code.ts'
import {
  type Callee,
  type CodeType,
  type ExceptionFlavour,
  type RandomWorld,
  SCALARS,
} from './random-world.ts'

/** What a random module may contain. */
export interface RandomModuleOptions {
  readonly exceptions: ExceptionFlavour
  /** SIMD. */
  readonly vectors: boolean
}

/** How many loop rounds and calls one export may make. */
const COUNTDOWN = 120

/** Makes the module. */
export function createRandomModule(seed: number, options: RandomModuleOptions): Uint8Array<ArrayBuffer> {
  const random = new SeededRandom(seed)
  const builder = new ModuleBuilder()
  const log = builder.importFunction('host', 'log', ['i32'], [])
  const types = options.vectors ? [...SCALARS, 'v128' as const] : SCALARS
  const world = createWorld(builder, random, options, types, log)
  const functions = world.callees.filter(({ index }) => index !== log)
  for (const { index, params, results } of functions) {
    const extra = Array.from({ length: random.below(3) }, () => random.pick(types))
    const locals = [...types, ...extra]
    const code = new RandomCode(world, params as CodeType[], results, locals, 30 + random.below(250))
    builder.define(index, locals, code.body())
  }
  functions.forEach((callee, i) => {
    builder.export(`run.${i}`, createRunner(builder, world, callee, log))
  })
  return builder.build()
}

function createWorld(
  builder: ModuleBuilder,
  random: SeededRandom,
  { exceptions, vectors }: RandomModuleOptions,
  types: readonly CodeType[],
  log: number,
): RandomWorld {
  const signature = (): CodeType[] => Array.from({ length: random.below(3) }, () => random.pick(types))
  const functions = Array.from({ length: 3 + random.below(5) }, (): Callee => {
    const [params, results] = [signature(), signature()]
    return { index: builder.declare(params, results), params, results }
  })
  const large = random.oneIn(6)
  const memoryPages = large ? 64 : 1 + random.below(3)
  const tableEntries = large ? 12_000 : 40
  builder.memory(memoryPages, memoryPages + (random.oneIn(2) ? 2 : 12))
  builder.table('funcref', tableEntries, random.oneIn(2) ? tableEntries + 50 : undefined)
  const tableCallees = functions.filter(() => random.oneIn(2))
  builder.elements(
    0,
    tableCallees.map(({ index }) => index),
  )
  // Being in a segment also declares a function as one that `ref.func` may name.
  const indices = [log, ...functions.map(({ index }) => index)]
  builder.passiveElements([...indices, ...Array.from({ length: 30 }, () => random.pick(indices))])
  const passiveDataBytes = 500
  builder.passiveData(random.bytes(passiveDataBytes))
  const tags: readonly ValueType[][] = exceptions === 'none' ? [] : [[], ['i32']]
  for (const tag of tags) builder.tag(tag)
  return {
    ...{ builder, random, exceptions, vectors, tags, passiveDataBytes, tableEntries, tableCallees },
    callees: [...functions, { index: log, params: ['i32'], results: [] }],
    globals: new Map(types.map((type) => [type, builder.global(type, zero(type))])),
    countdown: builder.global('i32', zero('i32')),
    memoryBytes: memoryPages * 65_536,
    passiveElements: 30,
  }
}

function zero(type: CodeType): number[] {
  const zeros: Readonly<Record<CodeType, number[]>> = {
    i32: [0x41, 0],
    i64: [0x42, 0],
    f32: [0x43, 0, 0, 0, 0],
    f64: [0x44, 0, 0, 0, 0, 0, 0, 0, 0],
    v128: [0xfd, 12, ...new Array<number>(16).fill(0)],
  }
  return zeros[type]
}

function isCrossable(type: ValueType): boolean {
  return type !== 'v128'
}

/** An export without parameters: sets the countdown, calls the function, gives those results that JavaScript can hold. */
function createRunner(builder: ModuleBuilder, world: RandomWorld, callee: Callee, log: number): number {
  const setCountdown = [0x41, ...signedLeb(BigInt(COUNTDOWN)), OP.global_set, ...leb(world.countdown)]
  const args = callee.params.flatMap((type) => zero(type as CodeType))
  const call = [...args, OP.call, ...leb(callee.index)]
  const started = [0x41, ...signedLeb(BigInt(callee.index)), OP.call, ...leb(log)]
  const results = callee.results
  if (results.every(isCrossable))
    return builder.function([], results, [], [...setCountdown, ...started, ...call])
  const drops = results.map(() => OP.drop)
  return builder.function([], [], [], [...setCountdown, ...started, ...call, ...drops])
}
