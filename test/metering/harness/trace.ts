/**
 * Runs every export of a module once and writes down all that can be seen: results, ends, host calls, state.
 *
 * Two runs behaved alike if their traces are equal. Each call also notes how much fuel it took, as told by a
 * meter that the caller supplies.
 */
import { createHash } from 'node:crypto'
import { SeededRandom } from '../../seeded-random.ts'
import { WasmException } from '../oracle/entities.ts'
import type { ValueType } from '../oracle/instruction.ts'
import type { FunctionType, WasmModule } from '../oracle/module-reader.ts'
import { exceptionApi } from './exception-api.ts'
import { STATE_PREFIX } from './expose-state.ts'
import type { Guest, ImportFactory } from './guest.ts'

/** How a call ended. */
export type CallEnd = 'returned' | 'threw' | 'host-threw' | 'trapped' | 'overflowed'

/** One call of an export. */
export interface TracedCall {
  readonly name: string
  readonly end: CallEnd
  /** Results, or what was thrown, and the host calls on the way. */
  readonly events: readonly string[]
  /** Fuel taken by this call. */
  readonly fuel: bigint
}

/** Everything seen in one run. */
export interface Trace {
  readonly calls: readonly TracedCall[]
  /** Globals, tables and a digest of the memory at the end. */
  readonly state: readonly string[]
}

/** Opens the instance and tells, at any time, how much fuel it has taken. */
export interface TracedRun {
  readonly open: (imports: ImportFactory) => Guest
  readonly spent: (guest: Guest) => bigint
  /** Asked after each call; true ends the trace there. */
  readonly hasEnded?: () => boolean
}

/** Text of a value that is equal exactly for equal values (all NaNs alike). */
export function describeValue(value: unknown): string {
  if (typeof value === 'bigint') return `${value}n`
  if (Object.is(value, -0)) return '-0'
  return typeof value === 'function' ? 'function' : String(value)
}

function describeThrown(thrown: unknown): readonly [CallEnd, string] {
  if (thrown instanceof WebAssembly.RuntimeError) return ['trapped', describeTrap(thrown.message)]
  if (thrown instanceof WasmException || thrown instanceof exceptionApi.Exception) return ['threw', 'tagged']
  if (thrown instanceof RangeError) return ['overflowed', 'stack']
  if (thrown instanceof TypeError) return ['host-threw', 'TypeError']
  return ['host-threw', String(thrown)]
}

/** Which bound was overstepped is told differently by engines, and by code that checks before it copies. */
function describeTrap(message: string): string {
  return message.includes('out of bounds') ? 'out of bounds' : message
}

/** Arguments for a function type; the same random state gives the same arguments. */
function createArguments(type: FunctionType, random: SeededRandom): unknown[] {
  return type.params.map((param) => createArgument(param, random))
}

function createArgument(type: ValueType, random: SeededRandom): unknown {
  const small = random.below(200) - 100
  if (type === 'i32') return random.oneIn(2) ? small : random.u32() | 0
  if (type === 'i64') return random.oneIn(2) ? BigInt(small) : (BigInt(random.u32()) << 32n) | 7n
  if (type === 'f32' || type === 'f64') return Math.fround(small / 4)
  return null
}

/** Runs all exported functions of the plain `module` in order, with arguments from `seed`. */
export function trace(module: WasmModule, run: TracedRun, createImports: CreateImports, seed: number): Trace {
  const random = new SeededRandom(seed)
  let events: string[] = []
  let guest: Guest
  try {
    guest = run.open(createImports(module, (event) => events.push(event)))
  } catch (thrown) {
    const [end, text] = describeThrown(thrown)
    return { calls: [{ name: 'start', end, events: [...events, text], fuel: 0n }], state: [] }
  }
  let before = run.spent(guest)
  const calls: TracedCall[] = [{ name: 'start', end: 'returned', events, fuel: before }]
  for (const { name, kind, index } of module.exports) {
    if (kind !== 'function') continue
    events = []
    const type = module.types[module.functions[index]?.typeIndex ?? -1] as FunctionType
    const end = callOnce(guest, name, createArguments(type, random), events)
    const after = run.spent(guest)
    calls.push({ name, end, events, fuel: after - before })
    before = after
    if (run.hasEnded?.() === true) break
  }
  return { calls, state: describeState(guest, module.exports) }
}

/** Makes imports for the module that report each host call to `log`. */
export type CreateImports = (module: WasmModule, log: (event: string) => void) => ImportFactory

function callOnce(guest: Guest, name: string, args: unknown[], events: string[]): CallEnd {
  try {
    events.push(guest.invoke(name, args).map(describeValue).join(', '))
    return 'returned'
  } catch (thrown) {
    const [end, text] = describeThrown(thrown)
    events.push(text)
    return end
  }
}

function describeState(guest: Guest, exports: readonly { name: string; kind: string }[]): string[] {
  return exports
    .filter(({ name }) => name.startsWith(STATE_PREFIX))
    .map(({ name, kind }) => {
      if (kind === 'global') return `${name} ${describeValue(guest.readGlobal(name))}`
      if (kind === 'memory') return `${name} ${digestOf(guest.memoryBytes(name))}`
      return `${name} ${describeTable(guest, name)}`
    })
}

function digestOf(bytes: Uint8Array): string {
  return `${bytes.length} ${createHash('sha256').update(bytes).digest('hex').slice(0, 16)}`
}

function describeTable(guest: Guest, name: string): string {
  const elements: string[] = []
  try {
    for (let i = 0; i < 1_000; i++) elements.push(guest.readTable(name, i) === null ? '0' : '1')
  } catch {
    // Reading past the end is how the length is found on both kinds of guest.
  }
  return elements.join('')
}

/** Imports of the modules of `createRandomModule`: one logger. */
export const createLogImports: CreateImports = (_module, log) => () => ({
  host: { log: (value: unknown) => log(`log ${describeValue(value)}`) },
})
