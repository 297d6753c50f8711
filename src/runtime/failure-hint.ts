/**
 * The next step after a failure, in one sentence: for the person or the model that wrote the program, told by the host.
 *
 * A guest learns nothing from it: what exists and was not granted stays the host's to tell. The error is a guest's, and
 * may be forged; then the hint is wrong, and only words.
 */
import type { GuestError } from '../machine/turn.ts'
import { platformGlobalHint } from '../program/platform-hints.ts'
import { indexOfPlace } from '../program/source-place.ts'
import { syntaxHint } from '../program/syntax-hint.ts'
import { missingGrants, missingGrantsText } from './missing-grants.ts'
import { misspeltCapability } from './misspelt-capability.ts'

/** How far behind the place of the error an argument is looked for, in UTF-16 units. */
const REACH = 200

/**
 * @param source the author's
 * @param withheld capabilities that exist and were not granted
 * @param granted those that were
 */
export function failureHint(
  error: GuestError,
  source: string,
  withheld: readonly string[],
  granted: readonly string[] = [],
): string | undefined {
  const names = missingGrants(error, source, withheld)
  const text = missingGrantsText(names)
  if (text !== undefined) return `${text}: add ${names.map((name) => `'${name}'`).join(', ')} to grants.`
  const global = undefinedName(error)
  const hint = global === undefined ? undefined : platformGlobalHint(global, firstArgument(error, source))
  if (hint !== undefined) return `${hint}.`
  if (error.code === 'value_refused') return PLAIN_DATA
  return misspeltCapability(error, source, granted, withheld) ?? syntaxHint(error, source)
}

const PLAIN_DATA =
  'Give plain data instead: only what structuredClone copies leaves a program, no functions and no symbols.'

/** The name that an error says is not defined. */
export function undefinedName({ name, message }: GuestError): string | undefined {
  return name === 'ReferenceError' ? /^'([\w$]{1,100})' is not defined$/.exec(message)?.[1] : undefined
}

/** The text that the call at the place of an error is given: `fs` in `require('fs')`. */
function firstArgument({ position }: GuestError, source: string): string | undefined {
  if (position === undefined) return undefined
  const at = indexOfPlace(source, position)
  const text = source.slice(Math.max(0, at - REACH), at + REACH)
  return /\brequire\s*\(\s*(['"`])([\w:./@-]{1,80})\1/.exec(text)?.[2]
}
