/**
 * Which proposals a guest may use.
 *
 * What is refused would break a promise: that a guest's state is one memory and its globals, that a run is the same on
 * every runtime, or that it starts on every runtime. Everything else is left to the engine that compiles the module.
 */
import { CaissonError } from '../../base/errors.ts'

const REFUSED: ReadonlyMap<string, string> = new Map([
  ['threads', 'Guests have one thread, and memory that nobody shares: build without threads and atomics.'],
  ['memory64', 'Not every supported runtime has it: build for wasm32.'],
  ['multi-memory', 'A guest has one memory, and not every supported runtime has more: build with one.'],
  ['relaxed-simd', 'Its results differ from one processor to the next: build without -mrelaxed-simd.'],
])

/**
 * @param features names as in `MeterReport.features`
 * @throws CaissonError `unsupported_feature` with `details: { feature }`
 */
export function checkCoreFeatures(features: readonly string[]): void {
  for (const feature of features) {
    const advice = REFUSED.get(feature)
    if (advice === undefined) continue
    throw new CaissonError('unsupported_feature', `The module uses ${feature}. ${advice}`, {
      details: { feature },
    })
  }
}
