/**
 * Checkpoints as somebody with the key forges them: containers that are right in every digest and MAC, around a state in
 * which single fields have values of other types, ranges and meanings.
 */
import { createMemoryRunStore } from '../../host-bindings/store/memory-run-store.ts'
import { nodeCheckpointPorts as ports } from '../../host-bindings/system/checkpoint-ports.node.ts'
import { CaissonError, type Runtime } from '../../src/entry/node.ts'
import { base } from '../../src/isolate/isolate.testkit.ts'
import type { CheckpointHeader } from '../../src/snapshot/container/checkpoint.ts'
import { decodeCheckpoint } from '../../src/snapshot/container/decode-checkpoint.ts'
import { encodeCheckpoint } from '../../src/snapshot/container/encode-checkpoint.ts'
import { decodeOrdered, encodeOrdered } from '../../src/values/ordered-bytes.ts'
import { type Bank, KEYS, openBank } from './bank.ts'

type Fields = Record<string, unknown>
type Path = readonly (string | number)[]

const SOURCE = `
  Promise.reject(new Error('left'))
  console.log('before', Math.random())
  const kept = new Map([[1, { deep: [1, 2, 3] }]])
  await Promise.all([bank.pay({ n: 1 }), bank.pay('two')])
  return kept`

export interface Forger {
  readonly bank: Bank
  readonly runtime: Runtime
  /** The checkpoint with one field changed, and its header. */
  forge(
    path: Path,
    change: (before: unknown) => unknown,
    about?: Partial<CheckpointHeader>,
  ): Promise<Uint8Array>
  /** How a guest of it ended when somebody answered its calls: a code, or a status. */
  taken(bytes: Uint8Array): Promise<string>
  /** Changes one in so many; what ended neither by a code nor as a guest does, as text. */
  sweep(oneIn: number): Promise<readonly string[]>
}

export async function openForger(): Promise<Forger> {
  const bank = openBank()
  const runtime = await bank.open(createMemoryRunStore(), {
    checkpoints: { keys: KEYS },
    limits: { fuel: 20_000_000, wallMs: 5_000 },
  })
  const guest = await runtime.start(SOURCE, { grants: bank.grants })
  const bytes = await guest.checkpoint()
  guest.dispose()
  const parent = { pages: base.pages }
  const { pages, header, state: stateBytes } = await decodeCheckpoint(bytes, parent, { ports, keys: KEYS })
  const state = decodeOrdered(stateBytes) as Fields
  const forger: Forger = {
    bank,
    runtime,
    async forge(path, change, about = {}) {
      const forged = encodeOrdered(withChange(state, path, change))
      const made = { header: { ...header, ...about }, state: forged, pages }
      return (await encodeCheckpoint(made, parent, { ports, keys: KEYS })).bytes
    },
    async taken(forged) {
      try {
        const again = await runtime.restore(forged, { grants: bank.grants })
        for (const { id } of again.pending) if (again.outcome === undefined) await again.settle(id, 1)
        const { status } = again.outcome ?? (await again.finish())
        again.dispose()
        return status
      } catch (error) {
        if (CaissonError.is(error)) return error.code
        throw error
      }
    },
    async sweep(oneIn) {
      const wrong: string[] = []
      for (const [i, path] of [...leaves(state)].slice(1).entries()) {
        for (const [j, change] of CHANGES.entries()) {
          if ((i + j) % oneIn !== 0) continue
          const end = await forger.taken(await forger.forge(path, change)).catch(String)
          if (!ENDS.test(end)) wrong.push(`${path.join('.')}, change ${j}: ${end}`)
        }
      }
      return wrong
    },
  }
  return forger
}

const ENDS = /^(corrupted|checkpoint_refused|invalid_limit|completed|failed|exhausted|suspended)$/

const leaves = function* (value: unknown, path: Path = []): Generator<Path> {
  yield path
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return
  for (const [key, inner] of Object.entries(value)) yield* leaves(inner, [...path, key])
}

const withChange = (value: unknown, path: Path, change: (before: unknown) => unknown): unknown => {
  const [key, ...rest] = path
  if (key === undefined) return change(value)
  const copy = (Array.isArray(value) ? [...value] : { ...(value as Fields) }) as Fields
  const changed = withChange(copy[key], rest, change)
  if (changed === GONE) delete copy[key]
  else copy[key] = changed
  return copy
}

const GONE = Symbol('gone')
export const CYCLE: Fields = { name: 'x', message: 'y' }
CYCLE.cause = CYCLE

const CHANGES: readonly ((before: unknown) => unknown)[] = [
  () => GONE,
  () => null,
  () => -1,
  () => 0.5,
  () => Number.NaN,
  () => Number.MAX_SAFE_INTEGER,
  () => 2 ** 53,
  () => 1e308,
  () => 2 ** 32 - 8,
  () => '',
  () => '\u001b[2Jx'.repeat(20_000),
  () => [],
  () => ({}),
  () => new Map([['length', 1]]),
  () => CYCLE,
  () => new Array(50_000).fill(0),
  () => 7n,
  () => true,
  (before) => (typeof before === 'number' ? before + 1 : [before, before]),
  (before) => (typeof before === 'number' ? before * 4_096 : [before]),
]
