/**
 * What a program may have meant by a member of a namespace that has no capability of that name: `prices.lokup`.
 *
 * For the host's eyes, as `missing-grants.ts`: what exists and was not granted never goes back into a guest.
 */
import { nearNames } from '../capability/near-names.ts'
import type { GuestError } from '../machine/turn.ts'
import { indexOfPlace } from '../program/source-place.ts'

/** How far from the place of the error an expression may begin or end, in UTF-16 units. */
const REACH = 300
const MOST_NAMES = 5
/** A longer expression is nobody's mistake in writing. */
const MOST_CHARACTERS = 120
/** What the engine says of a call of what is not there, and of a member of that. */
const NOT_THERE = /^(?:not a function$|cannot read property )/
/** A name with members. Spaces and `?.` may stand between its parts and before the call. */
const PATH = /(?<![\w$.])[A-Za-z_$][\w$]*(?:\s*\??\.\s*[A-Za-z_$][\w$]*)+(?:\s*\?\.)?\s*/g

/**
 * A sentence about the expression at the place of an uncaught error, or undefined.
 * @param error a guest can forge it: then the sentence is wrong, and only words
 * @param withheld capabilities that exist and were not granted
 */
export function misspeltCapability(
  { name, message, position }: GuestError,
  source: string,
  granted: readonly string[],
  withheld: readonly string[],
): string | undefined {
  if (position === undefined || name !== 'TypeError' || !NOT_THERE.test(message)) return undefined
  const written = pathAt(source, indexOfPlace(source, position))
  if (written === undefined || written.length > MOST_CHARACTERS) return undefined
  const there = [...granted, ...withheld]
  if (there.some((capability) => `${written}.`.startsWith(`${capability}.`))) return undefined
  const namespace = written.slice(0, written.indexOf('.') + 1)
  const members = there.filter((capability) => capability.startsWith(namespace))
  if (members.length === 0) return undefined
  const [near] = nearNames(
    written.slice(namespace.length),
    members.map((capability) => capability.slice(namespace.length)),
  )
  if (near === undefined) {
    const listed = members.slice(0, MOST_NAMES).join(', ')
    return `${written} is no capability; there ${members.length === 1 ? 'is' : 'are'} ${listed}${members.length > MOST_NAMES ? ', …' : ''}.`
  }
  const meant = namespace + near
  const question = `${written} is no capability; did you mean ${meant}?`
  return granted.includes(meant) ? question : `${question} It has to be granted, too.`
}

/** The name with members that lies at `at`, or ends there, without spaces. */
function pathAt(source: string, at: number): string | undefined {
  const start = Math.max(0, at - REACH)
  for (const { index, 0: text } of source.slice(start, at + REACH).matchAll(PATH)) {
    if (start + index <= at && at <= start + index + text.length) {
      return text.replaceAll(/[\s?]+/g, '').replace(/\.$/, '')
    }
  }
  return undefined
}
