/**
 * Runs the probes of the heap's layout and the allocator's on a freshly built engine, so that a build whose
 * structures moved fails here and not in an application that reads wrong values.
 */

import { PROBE_MEMORY_BYTES, probeAllocatorLayout } from '../../src/isolate/allocator-probe.ts'
import { probeHeapLayout } from '../../src/isolate/bridge/heap-probe.ts'
import type { Engine } from '../../src/isolate/engine.ts'
import { EngineInstance } from '../../src/isolate/engine-instance.ts'
import { installGuestRuntime } from '../../src/isolate/guest-runtime.ts'

/** Far more than the probes take, in fuel units and bytes. */
const FUEL = 10_000_000_000
const STACK_BYTES = 1_048_576

/** @throws CaissonError `engine_mismatch`, naming what is not where `heap-layout.ts` or `allocator-layout.ts` say */
export function probeEngine(engine: Engine): void {
  const instance = new EngineInstance(engine, engine.layout.initialPages, () => 0)
  instance.gauge.reset(FUEL)
  instance.gauge.begin(STACK_BYTES, Number.POSITIVE_INFINITY, undefined)
  const { runtime, context } = installGuestRuntime(instance)
  const { exports } = instance
  probeHeapLayout({
    memory: instance.memory,
    runtimePointer: runtime,
    evaluate: (source) => {
      const code = instance.allocateText(source)
      const file = instance.allocateText('caisson:probe')
      const value = exports.QTS_Eval(context, code.pointer, code.bytes, file.pointer, 0, 0)
      if (exports.QTS_ResolveException(context, value) !== 0) {
        throw new Error(`A probe of the heap layout threw in the engine: ${source}`)
      }
      return value
    },
  })
  probeAllocatorLayout(new EngineInstance(engine, PROBE_MEMORY_BYTES / 65_536, () => 0))
}
