/** That values were erased, by whom and when. */
import type { Verification } from '../../runtime/plans/verify/verify-run.ts'
import { shownText } from '../render/shown-text.ts'

export function erasedText({ by, atMs }: NonNullable<Verification['erased']>): string {
  if (by === undefined || atMs === undefined) return 'its values; nobody wrote down who did it'
  // Whoever writes to the store can write any number.
  const at = new Date(atMs)
  return `its values, by ${shownText(by)}${Number.isNaN(at.getTime()) ? '' : ` at ${at.toISOString()}`}`
}
