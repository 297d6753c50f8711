/** Where a run is not what its record says: what verifying names. */
import { clipText, escapeText } from '../../../base/escape-text.ts'

/** Which part of the record, or of what follows from it, differs. */
export type DifferenceOf =
  /** An entry of the journal: it was changed, moved, cut off, or added. */
  | 'journal'
  /** Something that was seen before, and is not there any more: the journal was cut off, or is another one. */
  | 'point'
  | 'signature'
  | 'receipt'
  /** A plan or a value that the journal names. */
  | 'value'
  /** The key that its values are encrypted under, or what says that they were erased. */
  | 'key'
  /** An event that may not follow the ones before it, or does not follow from them. */
  | 'order'
  /** An image that the head names: it cannot be used, or shows something else than the journal leads to. */
  | 'image'
  | 'request'
  | 'condition'
  | 'input'
  | 'output'
  /** The log of a program that is a kept run, or a checkpoint of it. */
  | 'log'
  /** What a kept program was started with: another source, input or seed than its node says. */
  | 'program'
  /** How a program ended, and what that took. */
  | 'end'
  | 'fuel'
  | 'state'

export interface Difference {
  readonly of: DifferenceOf
  /** Number of the entry of the journal. */
  readonly position: number
  /** Path of the node. */
  readonly node?: string
  /** What stands in the record, and what came out: as digests, codes and numbers. */
  readonly recorded?: string
  readonly found?: string
  readonly message: string
}

/** Thrown by checks; never leaves verifying. */
export class Differs extends Error {
  readonly difference: Difference

  constructor(difference: Difference) {
    super(difference.message)
    this.difference = difference
  }
}

/** @throws Differs where the two are not equal */
export function checkSame(
  what: Omit<Difference, 'message' | 'recorded' | 'found'> & { readonly words: string },
  recorded: string | number | undefined,
  found: string | number | undefined,
): void {
  if (recorded === found) return
  const { words, ...place } = what
  const shown = { recorded: shownOf(recorded), found: shownOf(found) }
  const node = place.node === undefined ? '' : ` of node "${clipText(place.node, 200)}"`
  throw new Differs({
    ...place,
    ...shown,
    message: `Entry ${place.position}: ${words}${node} is ${shown.recorded} by the record, and ${shown.found} when it is done again.`,
  })
}

function shownOf(value: string | number | undefined): string {
  return value === undefined ? 'none' : escapeText(clipText(String(value), 300))
}
