/** An engine that was compiled elsewhere: a statically imported module, where compiling at run time is forbidden. */
import { CaissonError } from '../../src/base/errors.ts'
import type { EngineSource, LoadedEngine } from '../../src/ports/engine-source.ts'

/** Serves exactly the given engine. */
export function staticEngine(loaded: LoadedEngine): EngineSource {
  const id = String((loaded.manifest as { id?: unknown } | null)?.id)
  return {
    ids: [id],
    load: (wanted) =>
      wanted === id ? Promise.resolve(loaded) : Promise.reject(engineUnavailable(wanted, [id])),
  }
}

/** The error of every source that does not have an engine. */
export function engineUnavailable(wanted: string, ids: readonly string[], cause?: unknown): CaissonError {
  return new CaissonError(
    'engine_unavailable',
    `Engine "${wanted}" is not at hand; there ${ids.length === 1 ? 'is' : 'are'} ${ids.join(', ')}.`,
    { details: { wanted, ids }, cause },
  )
}
