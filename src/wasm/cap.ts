/** Maxima of memories and tables, enforced by the module itself. */
import { CaissonError } from '../base/errors.ts'
import { mapLimits } from './edit.ts'
import type { Limits, Module } from './module.ts'

/** The greatest sizes that a module may ask for or grow to. */
export interface Caps {
  /** Pages of 64 KiB per memory. */
  readonly maxMemoryPages?: number
  /** Entries of all tables that the module defines, together; per table for those that it imports. */
  readonly maxTableEntries?: number
}

/**
 * Lowers the maximum of every memory and table, imported or defined, to the caps. A smaller maximum stays. What several
 * tables leave of theirs they share equally.
 *
 * @throws `invalid_limit` if the module needs more than a cap from the start.
 */
export function capModule(module: Module, caps: Caps): Module {
  const { maxMemoryPages, maxTableEntries } = caps
  const capped = mapLimits(
    module,
    (limits) =>
      maxMemoryPages === undefined ? limits : capLimits(limits, maxMemoryPages, 'memory', 'pages'),
    (type) =>
      maxTableEntries === undefined
        ? type
        : { ...type, limits: capLimits(type.limits, maxTableEntries, 'table', 'entries') },
  )
  return maxTableEntries === undefined ? capped : shareEntries(capped, maxTableEntries)
}

/** A module may define thousands of tables: a cap for each of them would be none. */
function shareEntries(module: Module, cap: number): Module {
  const needed = module.tables.reduce((sum, { type }) => sum + type.limits.min, 0)
  if (needed > cap) throw tooMany('tables', needed, cap, 'entries')
  const share = Math.floor((cap - needed) / Math.max(module.tables.length, 1))
  const tables = module.tables.map((item) => {
    const { min, max = cap } = item.type.limits
    const limits = { ...item.type.limits, max: Math.min(max, min + share) }
    return { ...item, type: { ...item.type, limits } }
  })
  return { ...module, tables }
}

function capLimits(limits: Limits, cap: number, what: string, unit: string): Limits {
  if (!Number.isSafeInteger(cap) || cap < 0) {
    throw new CaissonError(
      'invalid_limit',
      `The maximum of a ${what} must be a whole number of ${unit}, not ${cap}`,
    )
  }
  if (limits.min > cap) {
    throw tooMany(`a ${what}`, limits.min, cap, unit)
  }
  return { ...limits, max: Math.min(limits.max ?? cap, cap) }
}

function tooMany(what: string, needed: number, allowed: number, unit: string): CaissonError {
  const isMemory = unit === 'pages'
  const size = isMemory ? ` (${needed * 64} KiB)` : ''
  const advice = isMemory ? '; give it more memory, or take a build of it that needs less' : ''
  return new CaissonError(
    'invalid_limit',
    `The module needs ${what} of ${needed} ${unit}${size} from the start; at most ${allowed} are allowed${advice}.`,
    { details: { needed, allowed, unit } },
  )
}
