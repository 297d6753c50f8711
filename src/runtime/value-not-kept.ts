/**
 * The end of a kept run whose program came to a value that its log does not take: written down, text of control
 * characters is six times as long. What cannot be kept cannot be the end of what is kept, each time that it is asked for.
 */
import type { RunEnd } from '../machine/outcome.ts'
import { failed } from '../machine/session.ts'

export const VALUE_NOT_KEPT: Extract<RunEnd, { status: 'failed' }> = failed(
  'value_too_large',
  'The value of the program is more than its log takes. Return less of it, or hand it over as a file.',
) as Extract<RunEnd, { status: 'failed' }>

/** Whether a run is on record as ended so. Its program may throw an error of the same code: then it failed itself. */
export function isValueNotKept(end: RunEnd): boolean {
  return end.status === 'failed' && end.error.message === VALUE_NOT_KEPT.error.message
}
