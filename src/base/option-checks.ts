/**
 * Options as an embedder gave them, checked once, before anything is opened or made: what is misspelt or of the wrong
 * type is refused by name, and never ignored, because an ignored option is a missing limit.
 */
import { CaissonError } from './errors.ts'

/** Whether a value will do, and what would have done: "Option x must be {expected}." */
export type OptionCheck = readonly [holds: (value: unknown) => boolean, expected: string]

/** A check for every option, those that may be left out too. */
export type OptionChecks<Options> = Readonly<Record<keyof Options, OptionCheck>>

export const anything: OptionCheck = [() => true, '']
export const anObject: OptionCheck = [(value) => typeof value === 'object' && value !== null, 'an object']
export const aFunction: OptionCheck = [(value) => typeof value === 'function', 'a function']
export const aText: OptionCheck = [(value) => typeof value === 'string', 'a text']
export const trueOrFalse: OptionCheck = [(value) => typeof value === 'boolean', 'true or false']

export const anAbortSignal: OptionCheck = [
  (value) => typeof (value as Partial<AbortSignal> | null)?.addEventListener === 'function',
  'an AbortSignal',
]

/** One of these texts. */
export function oneOf(...names: readonly string[]): OptionCheck {
  return [(value) => names.includes(value as string), names.map((name) => `"${name}"`).join(' or ')]
}

/** A list, whatever is in it; `what` says what belongs there: "a list of grants". */
export function listOf(what: string): OptionCheck {
  return [Array.isArray, `a list of ${what}`]
}

/** A whole number from `min` to `max`, both included. */
export function wholeFrom(min: number, max: number = Number.MAX_SAFE_INTEGER): OptionCheck {
  const range = max === Number.MAX_SAFE_INTEGER ? `from ${min}` : `from ${min} to ${max}`
  return [
    (value) => Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max,
    `a whole number ${range}`,
  ]
}

/** An object with these methods: `what` names it, and where it comes from. A promise of one will not do. */
export function withMethods(what: string, ...methods: readonly string[]): OptionCheck {
  return [
    (value) =>
      typeof value === 'object' &&
      value !== null &&
      methods.every((method) => typeof (value as Record<string, unknown>)[method] === 'function'),
    `${what}: an object with ${methods.join(', ')}`,
  ]
}

/**
 * Checks every option that is there; those that are undefined count as left out.
 * @param required names of options that may not be left out
 * @param of the option that these are within: messages name it
 * @throws CaissonError `invalid_argument` with `details: { option }`
 */
export function checkOptions<Options extends object>(
  options: Options,
  checks: OptionChecks<Options>,
  required: readonly (keyof Options & string)[] = [],
  of?: string,
): void {
  if (typeof options !== 'object' || options === null) {
    throw refusal(
      of ?? 'options',
      of === undefined ? 'Options are an object.' : `Option ${of} must be an object.`,
    )
  }
  const within = of === undefined ? '' : `${of}.`
  for (const option in options) {
    if (!Object.hasOwn(checks, option)) {
      const known = Object.keys(checks).join(', ')
      const own = of === undefined ? 'Options' : `Options of ${of}`
      throw refusal(
        within + option,
        `There is no option "${within}${option.slice(0, 80)}". ${own}: ${known}.`,
      )
    }
    if (options[option] !== undefined) checkOption(within + option, options[option], checks[option])
  }
  for (const option of required) checkOption(within + option, options[option], checks[option])
}

function checkOption(option: string, value: unknown, [holds, expected]: OptionCheck): void {
  if (holds(value)) return
  const hint = isThenable(value) ? ' It is a promise: await it first.' : ''
  throw refusal(option, `Option ${option} must be ${expected}.${hint}`)
}

function isThenable(value: unknown): boolean {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function'
}

function refusal(option: string, message: string): CaissonError {
  return new CaissonError('invalid_argument', message, { details: { option: option.slice(0, 80) } })
}
