/** That values were erased, or a journal cut, by whom and when. */
import type { Verification } from '../../runtime/plans/verify/verification.ts'
import { shownText } from '../render/shown-text.ts'

export function erasedText({ by, atMs }: NonNullable<Verification['erased']>): string {
  if (by === undefined || atMs === undefined) return 'its values; nobody wrote down who did it'
  return `its values, by ${shownText(by)}${atText(atMs)}`
}

export function cutText({
  entries,
  by,
  atMs,
}: Pick<NonNullable<Verification['cut']>, 'entries' | 'by' | 'atMs'>): string {
  return `its journal of ${entries} ${entries === 1 ? 'entry' : 'entries'}, by ${shownText(by)}${atText(atMs)}`
}

/** Whoever writes to the store can write any number. */
function atText(atMs: number): string {
  const at = new Date(atMs)
  return Number.isNaN(at.getTime()) ? '' : ` at ${at.toISOString()}`
}
