/**
 * The builds of the engine that must agree: without metering, and metered in both profiles. All of them have the
 * shipped prelude in their base image, so that they differ in metering alone.
 */
import { loadEngine } from '../../bench/subjects/engine-files.ts'
import { editEngine } from '../../scripts/engine/edit-engine.ts'
import { withIdleCounters } from '../../scripts/engine/idle-counters.ts'
import { readUpstream } from '../../scripts/engine/read-upstream.ts'
import { BaseImage } from '../../src/isolate/base-image.ts'
import type { Engine } from '../../src/isolate/engine.ts'
import { InstancePool } from '../../src/isolate/instance-pool.ts'

/** Builds by name. `plain` is what the engine build meters: nothing counts there, and nothing can stop it. */
export type BuildName = 'plain' | 'v8' | 'portable'

/** Instances of one build. A guest of a conformance test may have 256 MiB. */
export async function openBuild(name: BuildName): Promise<InstancePool> {
  const engine = name === 'plain' ? await plainEngine() : await loadEngine(name)
  const base = new BaseImage(engine)
  return new InstancePool({ engine, base, maxPages: 4_096, keep: 2, monotonic: () => performance.now() })
}

async function plainEngine(): Promise<Engine> {
  const { wasm, layout } = editEngine(readUpstream())
  const module = await WebAssembly.compile(withIdleCounters(wasm) as Uint8Array<ArrayBuffer>)
  return { ...(await loadEngine('v8')), id: 'plain', layout, module }
}
