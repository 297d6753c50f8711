/** Whose a guest is: what its checkpoints and its log are bound to. */
import { CaissonError } from '../base/errors.ts'
import { isRunName } from './check-options.ts'
import type { CheckpointOwner } from './checkpoints.ts'
import type { RunOptions } from './options.ts'

/** The trust domain of guests that name none. */
export const DEFAULT_DOMAIN = 'default'

/** Who asks for a run that is there: its label is its own. */
export type RunOwner = Omit<CheckpointOwner, 'label'>

/** Whose a guest is that begins. */
export function ownerOf(
  options: Pick<RunOptions, 'domain' | 'principal' | 'label'>,
  run: string,
): CheckpointOwner {
  const { domain = DEFAULT_DOMAIN, principal = '', label = 'plain' } = options
  return { tenant: domain, run, principal, label }
}

/** @throws CaissonError `invalid_argument` */
export function runOwnerOf(options: Pick<RunOptions, 'domain' | 'principal'>, run: string): RunOwner {
  if (!isRunName(run)) throw new CaissonError('invalid_argument', 'The name of a run is none.')
  const { tenant, principal } = ownerOf(options, run)
  return { tenant, principal, run }
}
