/** What a module must not contain before it is metered, and what it loses. */
import { CaissonError } from '../base/errors.ts'
import { filterCustomSections } from './edit.ts'
import { METER_NAMESPACE } from './meter-options.ts'
import type { Module } from './module.ts'

/** Custom sections that hold positions in code, which move: debug information, hints, relocations. */
const STALE = /^(\.debug_|reloc\.|metadata\.code\.)|^(linking|sourceMappingURL|external_debug_info)$/

/**
 * Refuses a module that takes part in metering itself (it was metered before, or imitates it), and drops custom
 * sections that would lie afterwards.
 */
export function prepareModule(module: Module, keepNames: boolean): Module {
  const prefix = `${METER_NAMESPACE}.`
  for (const item of module.imports) {
    if (item.module === METER_NAMESPACE) throw taken(`imports from ${JSON.stringify(METER_NAMESPACE)}`)
  }
  for (const item of module.exports) {
    if (item.name.startsWith(prefix)) throw taken(`exports ${JSON.stringify(item.name)}`)
  }
  return filterCustomSections(module, ({ name }) => (name === 'name' ? keepNames : !STALE.test(name)))
}

function taken(what: string): CaissonError {
  return new CaissonError(
    'invalid_module',
    `The module ${what}, a name reserved for metering; is it metered already?`,
  )
}
