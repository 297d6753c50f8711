/**
 * Which names a capability may have. A name becomes a path of globals in a guest, so it must neither shadow
 * the language nor reach a prototype.
 */

const SEGMENT = /^[a-z][A-Za-z0-9]{0,63}$/
const MAX_SEGMENTS = 4

/** Segments that mean something to every object, and so could be mistaken for it. */
const RESERVED_ANYWHERE: ReadonlySet<string> = new Set([
  'constructor',
  'prototype',
  'hasOwnProperty',
  'isPrototypeOf',
  'propertyIsEnumerable',
  'toString',
  'toLocaleString',
  'valueOf',
  'toJSON',
  'then', // `await prices` must not call a capability
])

/** Lower-case globals and keywords that a namespace must not shadow. Upper-case ones fail the pattern. */
const RESERVED_FIRST: ReadonlySet<string> = new Set(
  (
    'globalThis global window self console input undefined eval isFinite isNaN parseFloat parseInt ' +
    'escape unescape decodeURI decodeURIComponent encodeURI encodeURIComponent atob btoa ' +
    'setTimeout setInterval setImmediate clearTimeout clearInterval clearImmediate queueMicrotask ' +
    'structuredClone performance crypto process require module exports arguments async await ' +
    'break case catch class const continue debugger default delete do else enum export extends false ' +
    'finally for function if implements import in instanceof interface let new null of package private ' +
    'protected public return static super switch this throw true try typeof var void while with yield'
  ).split(' '),
)

/** What is wrong with `name`, as the end of a sentence; `undefined` when nothing is. */
export function nameProblem(name: unknown): string | undefined {
  if (typeof name !== 'string' || name === '') return 'it must be a non-empty string'
  const segments = name.slice(0, 512).split('.')
  if (segments.length > MAX_SEGMENTS || name.length > 512) {
    return `it may have at most ${MAX_SEGMENTS} segments of 64 characters`
  }
  for (const segment of segments) {
    if (RESERVED_ANYWHERE.has(segment)) return `the segment "${segment}" is reserved by the language`
    if (!SEGMENT.test(segment)) {
      return `the segment "${segment.slice(0, 80)}" is not a lower-camel identifier such as "lookup" or "listAll"`
    }
  }
  const first = segments[0] as string // split yields at least one
  if (RESERVED_FIRST.has(first)) return `"${first}" is a global or a keyword of JavaScript`
  return undefined
}
