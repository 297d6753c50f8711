/** The engine builds of this repository, below the public API: for what only the inside can show. */
import { readFileSync } from 'node:fs'
import { BaseImage } from '../../src/isolate/base-image.ts'
import { type Engine, parseEngine } from '../../src/isolate/engine.ts'
import { ENGINE_MANIFEST } from '../../src/isolate/engine-manifest.ts'
import type { GuestSources } from '../../src/isolate/guest-sources.ts'
import { InstancePool } from '../../src/isolate/instance-pool.ts'

/** Pages of 64 KiB that a guest of the benches may have: 256 MiB. */
export const MAX_PAGES = 4_096

/** Bytes of a metered build, as they are shipped. */
export function readEngineFile(profile: Engine['profile']): Uint8Array<ArrayBuffer> {
  return new Uint8Array(readFileSync(new URL(`../../engines/current/${profile}.wasm`, import.meta.url)))
}

/** What is evaluated in every guest of the build. */
function readGuestSources(): GuestSources {
  return JSON.parse(readFileSync(new URL('../../engines/current/guest.json', import.meta.url), 'utf8'))
}

/** A metered build, ready to instantiate. */
export async function loadEngine(
  profile: Engine['profile'],
  guest: Partial<GuestSources> = {},
): Promise<Engine> {
  const module = await WebAssembly.compile(readEngineFile(profile))
  return parseEngine({
    manifest: ENGINE_MANIFEST,
    module,
    guest: { ...readGuestSources(), ...guest },
    profile,
  })
}

/**
 * A pool as a runtime has one.
 * @param monotonic in milliseconds
 * @param guest what takes the place of what guests are made of otherwise
 */
export async function createEnginePool(
  monotonic: () => number,
  guest?: Partial<GuestSources>,
): Promise<InstancePool> {
  const engine = await loadEngine('v8', guest)
  return new InstancePool({ engine, base: new BaseImage(engine), maxPages: MAX_PAGES, keep: 4, monotonic })
}
