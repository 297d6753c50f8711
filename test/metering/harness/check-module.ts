/**
 * The comparison at the heart of the random tests: one module, plain and metered in every way, against the oracle.
 *
 * 1. Behaviour (results, ends, host calls, memory, globals, tables) is the same plain and metered.
 * 2. Fuel of every call that returned or threw equals the interpreter's count, in both profiles and for every size
 *    of slice. A trap ends an instance, so that its fuel is not compared; a host exception ends it too, unless the
 *    module was metered with `importsMayThrow`.
 * 3. Given half of that fuel (of the calls before the first trap) it is stopped at the same place, with the same state and the same fuel spent, in both
 *    profiles and for every size of slice.
 */

import { meter } from '../../../src/wasm/meter.ts'
import type { MeterOptions, MeterProfile } from '../../../src/wasm/meter-options.ts'
import { FuelCount } from '../oracle/fuel-count.ts'
import { readModule, type WasmModule } from '../oracle/module-reader.ts'
import { exposeState } from './expose-state.ts'
import { openEngineGuest, openInterpretedGuest } from './guest.ts'
import { type FuelPlan, MeteredRun, type OpenGuest } from './metered-run.ts'
import { type CreateImports, type Trace, trace } from './trace.ts'

/** How a module is checked. */
export interface ModuleCheck {
  readonly createImports: CreateImports
  /** Seed of the arguments. */
  readonly seed: number
  /** Slices to run with, per profile; undefined is one slice for all. */
  readonly slices: Readonly<Record<MeterProfile, readonly (bigint | undefined)[]>>
  readonly options?: Omit<MeterOptions, 'profile'>
  /** Runs the module in the interpreter only: for features that the engine lacks. */
  readonly interpretedOnly?: boolean
}

/** What a check found. */
export interface ModuleFindings {
  /** Differences, each one line; empty when all is well. */
  readonly problems: readonly string[]
  /** Fuel by the oracle's count. */
  readonly fuel: number
  /** How often each opcode ran. */
  readonly opcodes: ReadonlyMap<number, number>
  /** How many calls ended in which way. */
  readonly ends: ReadonlyMap<string, number>
  /** Whether the module was also stopped half-way. */
  readonly wasStopped: boolean
}

/** Plenty for the recursion of the random modules, so that only the tests of depth meet the end of it. */
const DEPTH_BYTES = 100_000_000

/** Modules that use less end before they are stopped. */
const LEAST_FUEL_TO_STOP = 500

/** Checks one module. */
export function checkModule(wasm: Uint8Array, check: ModuleCheck): ModuleFindings {
  const exposed = exposeState(wasm)
  const module = readModule(exposed)
  const openGuest: OpenGuest = check.interpretedOnly === true ? openInterpretedGuest : openEngineGuest
  const count = new FuelCount()
  const expected = traceInterpreted(exposed, module, check, count)
  const problems: string[] = []
  if (check.interpretedOnly !== true) {
    const plain = tracePlain(exposed, module, check)
    problems.push(...compareBehaviour('interpreted', expected, 'plain', plain))
  }
  const settled = new Set(['returned', 'threw'])
  if (check.options?.importsMayThrow === true) settled.add('host-threw')
  const limit = halfOfSettledFuel(expected, settled)
  let stopped: Trace | undefined
  for (const profile of ['v8', 'portable'] as const) {
    const options = { start: 'keep', ...check.options, profile } as const
    const metered = meter(exposed, options).wasm as Uint8Array<ArrayBuffer>
    for (const slice of check.slices[profile]) {
      const label = `${profile} ${slice ?? 'unsliced'}`
      const found = traceMetered(metered, module, check, slice, openGuest)
      problems.push(...compareBehaviour('interpreted', expected, label, found))
      problems.push(...compareFuel(expected, label, found, settled))
      if (limit === undefined) continue
      const end = traceMetered(metered, module, check, slice, openGuest, limit)
      stopped ??= end
      const all = new Set(end.calls.map((call) => call.end))
      problems.push(...compareBehaviour('first stopped', stopped, `${label} stopped`, end))
      problems.push(...compareFuel(stopped, `${label} stopped`, end, all))
    }
  }
  const wasStopped = stopped?.calls.at(-1)?.end === 'trapped'
  return { problems, fuel: count.fuel, opcodes: count.opcodes, ends: countEnds(expected), wasStopped }
}

/** Half of the fuel of the calls before the first whose fuel is not defined; undefined if that is little. */
function halfOfSettledFuel({ calls }: Trace, settled: ReadonlySet<string>): bigint | undefined {
  let fuel = 0n
  for (const call of calls) {
    if (!settled.has(call.end)) break
    fuel += call.fuel
  }
  return fuel > LEAST_FUEL_TO_STOP ? fuel / 2n : undefined
}

function traceInterpreted(
  wasm: Uint8Array,
  module: WasmModule,
  { createImports, seed }: ModuleCheck,
  count: FuelCount,
): Trace {
  const open = (imports: Parameters<OpenGuest>[1]) => openInterpretedGuest(wasm, imports, count)
  return trace(module, { open, spent: () => BigInt(count.fuel) }, createImports, seed)
}

function tracePlain(
  wasm: Uint8Array<ArrayBuffer>,
  module: WasmModule,
  { createImports, seed }: ModuleCheck,
): Trace {
  const open = (imports: Parameters<OpenGuest>[1]) => openEngineGuest(wasm, imports)
  return trace(module, { open, spent: () => 0n }, createImports, seed)
}

function traceMetered(
  wasm: Uint8Array<ArrayBuffer>,
  module: WasmModule,
  { createImports, seed }: ModuleCheck,
  slice: bigint | undefined,
  openGuest: OpenGuest,
  limit?: bigint,
): Trace {
  const plan: FuelPlan = { depth: DEPTH_BYTES, ...(slice && { slice }), ...(limit && { limit }) }
  const run = new MeteredRun(plan)
  const open = (imports: Parameters<OpenGuest>[1]) => run.open(wasm, imports, openGuest)
  const hasEnded = (): boolean => run.stopped !== undefined
  return trace(module, { open, spent: (guest) => run.spent(guest), hasEnded }, createImports, seed)
}

function compareBehaviour(nameA: string, a: Trace, nameB: string, b: Trace): string[] {
  const problems: string[] = []
  const describe = ({ calls }: Trace, i: number): string => {
    const call = calls[i]
    return call === undefined ? 'no call' : `${call.name} ${call.end} [${call.events.join(' | ')}]`
  }
  for (let i = 0; i < Math.max(a.calls.length, b.calls.length); i++) {
    const [seenA, seenB] = [describe(a, i), describe(b, i)]
    if (seenA !== seenB) problems.push(`${nameA}: ${seenA}; ${nameB}: ${seenB}`)
  }
  const [stateA, stateB] = [a.state.join('; '), b.state.join('; ')]
  if (stateA !== stateB) problems.push(`state ${nameA}: ${stateA}; ${nameB}: ${stateB}`)
  return problems
}

function compareFuel(expected: Trace, label: string, found: Trace, settled: ReadonlySet<string>): string[] {
  return expected.calls.flatMap(({ name, end, fuel }, i) => {
    const other = found.calls[i]
    if (!settled.has(end) || other === undefined || other.fuel === fuel) return []
    return [`fuel of ${name} (${end}): interpreted ${fuel}, ${label} ${other.fuel}`]
  })
}

function countEnds({ calls }: Trace): Map<string, number> {
  const ends = new Map<string, number>()
  for (const { end } of calls) ends.set(end, (ends.get(end) ?? 0) + 1)
  return ends
}
