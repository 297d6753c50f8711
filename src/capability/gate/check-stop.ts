/** Stage: deadline and abort. Asked again after every wait, and last before the effect. */
import type { Refusal } from '../call.ts'
import type { Stop } from '../stop.ts'
import { refuse } from './refuse.ts'

export function checkStop(stop: Stop): Refusal | undefined {
  return stop.stopped ? refuse('aborted', 'The run was stopped.') : undefined
}
