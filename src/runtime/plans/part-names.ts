/** Names under which a store has what belongs to a run of a plan: its programs, and the lists of its values. */

const PART = /^(.+)\.(?:[0-9a-f]{24}|values-\d+)$/

/** The run that a name is a part of; undefined for any other name. */
export function ownerOfPart(name: string): string | undefined {
  return PART.exec(name)?.[1]
}
