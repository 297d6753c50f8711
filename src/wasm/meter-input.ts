/** What a module must not contain before it is metered, and what it loses. */
import { CaissonError } from '../base/errors.ts'
import { exportStart, filterCustomSections } from './edit.ts'
import { importCounters } from './meter-additions.ts'
import { METER_NAMESPACE, type MeterOptions, START_EXPORT } from './meter-options.ts'
import type { Module } from './module.ts'

/** Custom sections that hold positions in code, which move: debug information, hints, relocations. */
const STALE = /^(\.debug_|reloc\.|metadata\.code\.)|^(linking|sourceMappingURL|external_debug_info)$/

/**
 * Refuses a module that takes part in metering itself (it was metered before, or imitates it), drops custom
 * sections that would lie afterwards, and takes the start function out of the engine's hands.
 */
export function prepareModule(module: Module, options: MeterOptions): Module {
  const prefix = `${METER_NAMESPACE}.`
  for (const item of module.imports) {
    if (item.module === METER_NAMESPACE) throw taken(`imports from ${JSON.stringify(METER_NAMESPACE)}`)
  }
  for (const item of module.exports) {
    if (item.name.startsWith(prefix)) throw taken(`exports ${JSON.stringify(item.name)}`)
  }
  const keepNames = options.keepNames === true
  const prepared = filterCustomSections(module, ({ name }) =>
    name === 'name' ? keepNames : !STALE.test(name),
  )
  const started = options.start === 'keep' ? prepared : exportStart(prepared, START_EXPORT)
  return options.counters === 'shared' ? importCounters(started) : started
}

function taken(what: string): CaissonError {
  return new CaissonError(
    'invalid_module',
    `The module ${what}, a name reserved for metering; is it metered already?`,
  )
}
