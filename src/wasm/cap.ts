/** Maxima of memories and tables, enforced by the module itself. */
import { CaissonError } from '../base/errors.ts'
import { mapLimits } from './edit.ts'
import type { Limits, Module } from './module.ts'

/** The greatest sizes that a module may ask for or grow to. */
export interface Caps {
  /** Pages of 64 KiB per memory. */
  readonly maxMemoryPages?: number
  /** Entries per table. */
  readonly maxTableEntries?: number
}

/**
 * Lowers the maximum of every memory and table, imported or defined, to the caps. A smaller maximum stays.
 *
 * @throws `invalid_limit` if the module needs more than a cap from the start.
 */
export function capModule(module: Module, caps: Caps): Module {
  const { maxMemoryPages, maxTableEntries } = caps
  return mapLimits(
    module,
    (limits) =>
      maxMemoryPages === undefined ? limits : capLimits(limits, maxMemoryPages, 'memory', 'pages'),
    (type) =>
      maxTableEntries === undefined
        ? type
        : { ...type, limits: capLimits(type.limits, maxTableEntries, 'table', 'entries') },
  )
}

function capLimits(limits: Limits, cap: number, what: string, unit: string): Limits {
  if (!Number.isSafeInteger(cap) || cap < 0) {
    throw new CaissonError(
      'invalid_limit',
      `The maximum of a ${what} must be a whole number of ${unit}, not ${cap}`,
    )
  }
  if (limits.min > cap) {
    throw new CaissonError(
      'invalid_limit',
      `The module needs a ${what} of ${limits.min} ${unit} from the start; at most ${cap} are allowed`,
      { details: { needed: limits.min, allowed: cap, unit } },
    )
  }
  return { ...limits, max: Math.min(limits.max ?? cap, cap) }
}
