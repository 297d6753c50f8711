/** What of a module is run, and in which order. */
import { CaissonError } from '../../base/errors.ts'
import { START_EXPORT } from '../../wasm/meter-options.ts'
import type { CoreManifest } from '../core/core-manifest.ts'
import { checkCall, type ModuleCall } from './module-call.ts'
import type { ModuleProgram } from './module-program.ts'

export interface ModulePhases {
  /** The start section, what initialises a reactor, calls of start-up, and the entry. */
  readonly calls: readonly ModuleCall[]
  /** How many of them are start-up; undefined for a command, whose start-up is a part of its entry. */
  readonly startUp: number | undefined
}

/** @throws CaissonError `invalid_module` where there is no such entry */
export function phasesOf(
  manifest: CoreManifest,
  { entry, startUp = [] }: Pick<ModuleProgram, 'entry' | 'startUp'>,
): ModulePhases {
  const entries = typeof entry === 'string' ? [{ name: entry, args: [] }] : entry
  for (const call of [...startUp, ...entries]) checkCall(manifest, call)
  if (entries.length === 0) {
    throw new CaissonError('invalid_module', 'The entry of the module is no call: nothing would be run.', {
      details: { reason: 'no entry' },
    })
  }
  const initialise = manifest.exports.some(
    ({ name, kind, signature }) =>
      name === '_initialize' && kind === 'function' && signature?.params.length === 0,
  )
  const before = [
    ...(manifest.hasStart ? [{ name: START_EXPORT, args: [] }] : []),
    ...(entry !== '_start' && initialise ? [{ name: '_initialize', args: [] }] : []),
    ...startUp,
  ]
  return { calls: [...before, ...entries], startUp: entry === '_start' ? undefined : before.length }
}
