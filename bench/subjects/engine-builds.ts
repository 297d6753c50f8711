/**
 * Builds of one engine, below the public API: as edited for us and not metered, and metered in both profiles with
 * fuel, depth and a deadline in the host's own thread. What they differ in is what metering costs.
 *
 * The unmetered build is made here, in memory: nothing ships it. It has the counters as globals that nobody counts
 * down, because the loader wants them.
 */
import { systemClock } from '../../host-bindings/system/system-clock.ts'
import { editEngine } from '../../scripts/engine/edit-engine.ts'
import { bundleGuestSources } from '../../scripts/engine/guest-sources.ts'
import { withIdleCounters } from '../../scripts/engine/idle-counters.ts'
import { readUpstream } from '../../scripts/engine/read-upstream.ts'
import { HeapReader } from '../../src/isolate/bridge/heap-reader.ts'
import { type Engine, parseEngine } from '../../src/isolate/engine.ts'
import { EngineInstance } from '../../src/isolate/engine-instance.ts'
import { ENGINE_MANIFEST } from '../../src/isolate/engine-manifest.ts'
import { installGuestRuntime } from '../../src/isolate/guest-runtime.ts'
import { DEFAULT_LIMITS } from '../../src/machine/limits.ts'
import { DEFAULT_VALUE_LIMITS } from '../../src/values/limits.ts'
import { checkedTrial, type Trial } from '../harness/trial.ts'
import { loadEngine, MAX_PAGES } from './engine-files.ts'
import type { Program } from './programs.ts'
import type { Subject } from './subject.ts'

const HOUR_MS = 3_600_000

async function unmeteredEngine(): Promise<Engine> {
  const { wasm, layout } = editEngine(readUpstream())
  const module = await WebAssembly.compile(withIdleCounters(wasm) as Uint8Array<ArrayBuffer>)
  return parseEngine({
    manifest: { format: 1, id: 'unmetered', layout },
    module,
    guest: bundleGuestSources(),
    profile: 'v8',
  })
}

/** A warm guest whose `run()` is called again and again, each time as one turn. */
function programTrial(engine: Engine, program: Program): Trial {
  const instance = new EngineInstance(engine, MAX_PAGES, systemClock.monotonic)
  const { exports, gauge } = instance
  instance.serve({ call: () => 0, readClock: () => 0, promiseRejection: () => {} }, MAX_PAGES * 65_536)
  gauge.reset(2 ** 52)
  const begin = (): void =>
    gauge.begin(DEFAULT_LIMITS.stackBytes, systemClock.monotonic() + HOUR_MS, () => false)
  begin()
  const guest = installGuestRuntime(instance)
  const evaluate = (source: string): number => {
    const code = instance.allocateText(source)
    const file = instance.allocateText(program.name)
    return exports.QTS_Eval(guest.context, code.pointer, code.bytes, file.pointer, 0, 0)
  }
  evaluate(program.source)
  const run = evaluate('run')
  const reader = new HeapReader({ memory: instance.memory, runtimePointer: guest.runtime })
  const compute = (): unknown => {
    begin()
    const cell = exports.QTS_Call(guest.context, run, guest.undefined, 0, guest.scratch)
    gauge.end()
    const value = reader.read(cell, DEFAULT_VALUE_LIMITS, 'result')
    exports.QTS_FreeValuePointer(guest.context, cell)
    return value
  }
  return checkedTrial(1, compute, program.check)
}

function engineSubject(id: string, note: string, engine: Engine): Subject {
  const engineOnly = { unable: 'is an engine build, not a sandbox' }
  return {
    id,
    kind: 'engine',
    version: ENGINE_MANIFEST.upstream.version,
    note,
    acquire: engineOnly,
    firstResult: engineOnly,
    hostCall: () => engineOnly,
    throughput: (program) => () => programTrial(engine, program),
  }
}

export async function openUnmetered(): Promise<Subject> {
  return engineSubject('engine-unmetered', 'the edited engine without metering', await unmeteredEngine())
}

export async function openMetered(profile: Engine['profile']): Promise<Subject> {
  const note = `profile ${profile}: exact fuel, depth, deadline checked at each slice`
  return engineSubject(`engine-${profile}`, note, await loadEngine(profile))
}
