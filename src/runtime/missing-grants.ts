/**
 * Which capabilities a program seems to have reached for and was not granted: for the host's eyes.
 *
 * A guest sees of such a capability nothing at all: a namespace that is not defined, a member that is no function.
 * It must not learn more, so what is found here never goes back into it.
 */
import type { GuestError } from '../machine/turn.ts'
import { indexOfPlace } from '../program/source-place.ts'

/** How far from the place of the error a name may begin or end, in UTF-16 units. */
const REACH = 300
const MOST_NAMES = 5
/** As `platform-hints.ts` writes it. */
const GRANT_INSTEAD = /^`[\w/:.-]{1,80}` is not available in a guest; grant ([\w.]{1,100}) and call /

/**
 * Names out of `withheld` that an uncaught error points at: the one at the place of the error, else those in the
 * namespace that is not defined; at most five.
 * @param error a guest can forge it: then the names are wrong, and only the host reads them
 * @param withheld capabilities that exist and were not granted
 */
export function missingGrants(
  error: GuestError,
  source: string,
  withheld: readonly string[],
): readonly string[] {
  const { name, message, position } = error
  if (error.code === 'not_found') {
    // An import of what another platform has, and a capability here.
    const instead = GRANT_INSTEAD.exec(message)?.[1]
    return withheld.filter((candidate) => candidate === instead)
  }
  if (withheld.length === 0 || (name !== 'ReferenceError' && name !== 'TypeError')) return []
  if (position !== undefined) {
    const at = indexOfPlace(source, position)
    const start = Math.max(0, at - REACH)
    const text = source.slice(start, at + REACH)
    const wanted = withheld.find((candidate) => reachesFor(candidate, text, at - start))
    if (wanted !== undefined) return [wanted]
  }
  const [, namespace] = /^'([\w$]{1,100})' is not defined$/.exec(message) ?? []
  return withheld.filter((candidate) => candidate.split('.')[0] === namespace).slice(0, MOST_NAMES)
}

/** Says so, without how to grant: that differs from host to host. Undefined for no names. */
export function missingGrantsText(names: readonly string[]): string | undefined {
  const [first, ...others] = names
  if (first === undefined) return undefined
  return others.length === 0
    ? `${first} exists and this guest has no grant for it`
    : `${names.join(', ')} exist and this guest has no grants for them`
}

/** Whether `text` has the expression `capability` at `at`, or one that ends there. */
function reachesFor(capability: string, text: string, at: number): boolean {
  // Names are letters, digits and dots. Spaces and `?.` may stand between their parts and before the call.
  const path = capability.split('.').join('\\s*\\??\\.\\s*')
  for (const match of text.matchAll(new RegExp(`(?<![\\w$.])${path}(?![\\w$])(?:\\s*\\?\\.)?\\s*`, 'g'))) {
    if (match.index <= at && at <= match.index + match[0].length) return true
  }
  return false
}
