/**
 * What is evaluated inside a guest on our behalf: the bridge and the prelude. It belongs to an engine build as the
 * wasm does, since the memories of parked guests are made of it.
 */
import { CaissonError } from '../base/errors.ts'

export interface GuestSources {
  /** An expression: the builder of `bridge/bridge-source.ts`. */
  readonly bridge: string
  /** An expression: a function of the host functions, in the order of `hostFunctions`, that installs the prelude. */
  readonly prelude: string
  /** Names in `HOST_FUNCTIONS`. */
  readonly hostFunctions: readonly string[]
  /** Expressions by name: parts of the prelude that are evaluated when they are first touched. */
  readonly units: Readonly<Record<string, string>>
}

/** @throws CaissonError `engine_mismatch` for what no engine build writes */
export function parseGuestSources(data: unknown): GuestSources {
  const { bridge, prelude, hostFunctions, units } = (data ?? {}) as Partial<
    Record<keyof GuestSources, unknown>
  >
  const isText = (value: unknown): value is string => typeof value === 'string'
  if (
    isText(bridge) &&
    isText(prelude) &&
    Array.isArray(hostFunctions) &&
    hostFunctions.every(isText) &&
    typeof units === 'object' &&
    units !== null &&
    Object.values(units).every(isText)
  ) {
    return { bridge, prelude, hostFunctions, units: units as GuestSources['units'] }
  }
  throw new CaissonError(
    'engine_mismatch',
    'The engine comes without the sources of its guests (guest.json). Rebuild the engine or update the package.',
  )
}
