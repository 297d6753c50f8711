/** Isolates on the built engine, for tests that look below the runtime. */
import { readFileSync } from 'node:fs'
import type { SyncCalls } from '../capability/call.ts'
import { DEFAULT_LIMITS, type Limits } from '../machine/limits.ts'
import type { MachineStart, TurnControl } from '../machine/turn.ts'
import { type BaseImage, baseImageOf } from './base-image.ts'
import { type Engine, parseEngine } from './engine.ts'
import { ENGINE_MANIFEST } from './engine-manifest.ts'
import { InstancePool } from './instance-pool.ts'
import { Isolate } from './isolate.ts'

const bytes = readFileSync(new URL('../../engines/current/v8.wasm', import.meta.url))
export const engine: Engine = parseEngine({
  manifest: ENGINE_MANIFEST,
  module: new WebAssembly.Module(bytes),
  guest: JSON.parse(readFileSync(new URL('../../engines/current/guest.json', import.meta.url), 'utf8')),
  profile: 'v8',
})
export const base: BaseImage = baseImageOf(engine)

/** A control without a deadline. */
export const FREELY: TurnControl = { deadline: Number.POSITIVE_INFINITY }

export function openPool(monotonic: () => number = () => 0): InstancePool {
  return new InstancePool({ engine, base, maxPages: 4_096, keep: 2, monotonic })
}

export function newIsolate(pool: InstancePool, syncCalls: SyncCalls = { call: () => undefined }): Isolate {
  return new Isolate(pool.acquire(), syncCalls)
}

/** What a machine is started with; `capabilities` by name, a leading `!` makes one sync. */
export function startOf(
  source: string,
  { capabilities = [], limits = {} }: { capabilities?: readonly string[]; limits?: Partial<Limits> } = {},
): MachineStart {
  return {
    source,
    form: 'auto',
    fileName: 'program.js',
    input: undefined,
    capabilities: capabilities.map((name) => ({ name: name.replace('!', ''), sync: name.startsWith('!') })),
    limits: { ...DEFAULT_LIMITS, ...limits },
    seed: new Uint8Array(32),
    nowMs: Date.UTC(2026, 0, 1),
  }
}
