/** How a checkpoint is refused: always typed, always with the reason as data. */
import { CaissonError, type ErrorDetails } from '../../base/errors.ts'

/** What of a checkpoint contradicts itself. The table of docs/checkpoint-format.md lists them. */
export type DamageReason =
  | 'length'
  | 'magic'
  | 'version'
  | 'digest'
  | 'flags'
  | 'header'
  | 'sections'
  | 'state'
  | 'pages'
  | 'root'
  | 'chain'

/** The bytes contradict themselves: damaged, cut, or made by somebody else. */
export function damaged(reason: DamageReason, message: string, cause?: unknown): CaissonError {
  return new CaissonError('corrupted', `The checkpoint is damaged: ${message}`, {
    details: { reason },
    cause,
  })
}

/** The bytes are what they were when written, and may not be used here. */
export function refused(differs: string, message: string, details: ErrorDetails = {}): CaissonError {
  return new CaissonError('checkpoint_refused', message, { details: { differs, ...details } })
}
