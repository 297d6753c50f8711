/**
 * Exports what a host needs to see of an instance to know all of its state: its memory and its mutable globals.
 *
 * What it cannot see is named as an obstacle: references cannot be copied, 128-bit globals cannot be read, and state
 * that instructions hide in tables is that of `MeterReport.hiddenState`.
 */
import { CaissonError } from '../../base/errors.ts'
import { addExport } from '../../wasm/edit.ts'
import { indexSpaces, type Module } from '../../wasm/module.ts'
import { isReference, V128, type ValueType } from '../../wasm/value-type.ts'
import type { CoreType, StateGlobal } from './core-manifest.ts'

/** Prefix of the exports that are added here; no module may have such names before. */
const STATE_PREFIX = 'caisson-state:'
export const MEMORY_EXPORT = 'caisson-state:memory'

export interface ExposedState {
  readonly module: Module
  readonly hasMemory: boolean
  readonly ownsMemory: boolean
  readonly globals: readonly StateGlobal[]
  readonly obstacles: readonly string[]
}

const NAMES: ReadonlyMap<ValueType, CoreType> = new Map([
  [0x7f, 'i32'],
  [0x7e, 'i64'],
  [0x7d, 'f32'],
  [0x7c, 'f64'],
  [0x7b, 'v128'],
])

export function coreType(type: ValueType): CoreType {
  return NAMES.get(type) ?? 'ref'
}

/** @throws CaissonError `invalid_module` for a module that uses the names itself */
export function exposeState(module: Module): ExposedState {
  for (const { name } of module.exports) {
    if (!name.startsWith(STATE_PREFIX)) continue
    throw new CaissonError(
      'invalid_module',
      `The module exports ${JSON.stringify(name.slice(0, 80))}, a name that is reserved; was it prepared already?`,
    )
  }
  const spaces = indexSpaces(module)
  const globals: StateGlobal[] = []
  const obstacles: string[] = []
  let exposed = module
  for (const [index, { value, mutable }] of spaces.globals.entries()) {
    if (!mutable || index < spaces.importedGlobals) continue
    if (value === V128) obstacles.push(`keeps a 128-bit vector in global ${index}`)
    else if (isReference(value)) obstacles.push(`keeps a reference in global ${index}`)
    else {
      const name = `${STATE_PREFIX}global.${index}`
      exposed = addExport(exposed, { name, kind: 'global', index })
      globals.push({ name, type: coreType(value) })
    }
  }
  const hasMemory = spaces.memories.length > 0
  if (hasMemory) exposed = addExport(exposed, { name: MEMORY_EXPORT, kind: 'memory', index: 0 })
  return { module: exposed, hasMemory, ownsMemory: module.memories.length > 0, globals, obstacles }
}
