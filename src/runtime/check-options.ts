/**
 * Options as an embedder gave them, checked once before any resource is taken: what is misspelt or of the wrong
 * type is refused by name, and never ignored, because an ignored option is a missing limit.
 */
import { CaissonError } from '../base/errors.ts'
import type { RunOptions, RuntimeOptions } from './options.ts'

type Check = readonly [holds: (value: unknown) => boolean, expected: string]
type Checks<Options> = Readonly<Record<keyof Options, Check>>

const anything: Check = [() => true, '']
const isObject: Check = [(value) => typeof value === 'object' && value !== null, 'an object']

function oneOf(...names: readonly string[]): Check {
  return [(value) => names.includes(value as string), names.map((name) => `"${name}"`).join(' or ')]
}

function wholeFrom(min: number, max: number = Number.MAX_SAFE_INTEGER): Check {
  const range = max === Number.MAX_SAFE_INTEGER ? `from ${min}` : `from ${min} to ${max}`
  return [
    (value) => Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max,
    `a whole number ${range}`,
  ]
}

const RUN: Checks<RunOptions> = {
  input: anything,
  grants: [Array.isArray, 'a list of capability names and grants'],
  limits: isObject,
  signal: [
    (value) => typeof (value as Partial<AbortSignal> | null)?.addEventListener === 'function',
    'an AbortSignal',
  ],
  form: oneOf('auto', 'script', 'body', 'module'),
  fileName: [
    (value) => typeof value === 'string' && /^\P{Cc}{1,1000}$/u.test(value),
    'a text of 1 to 1000 characters without control characters',
  ],
  seed: anything, // the runtime says itself what a seed is
  domain: [(value) => typeof value === 'string', 'a text'],
  stateDigest: [(value) => typeof value === 'boolean', 'true or false'],
  thread: oneOf('host', 'worker'),
}

const RUNTIME: Checks<RuntimeOptions> = {
  capabilities: [Array.isArray, 'a list of capabilities'],
  limits: isObject,
  maxMemoryBytes: wholeFrom(2 ** 20, 2 ** 31),
  concurrency: wholeFrom(1),
  keepInstances: wholeFrom(0),
  callLog: isObject,
  approver: isObject,
  lease: isObject,
  telemetry: isObject,
  clock: isObject,
  entropy: isObject,
  engines: isObject,
  engineId: [(value) => typeof value === 'string', 'a text'],
}

/** @throws CaissonError `invalid_argument` with `details: { option }` */
export function checkRunOptions(options: RunOptions): void {
  check(options, RUN)
}

/** @throws CaissonError `invalid_argument` with `details: { option }` */
export function checkRuntimeOptions(options: RuntimeOptions): void {
  check(options, RUNTIME)
}

function check<Options extends object>(options: Options, checks: Checks<Options>): void {
  if (typeof options !== 'object' || options === null) {
    throw new CaissonError('invalid_argument', 'Options are an object.')
  }
  for (const option in options) {
    const value: unknown = options[option as keyof Options]
    if (!Object.hasOwn(checks, option)) {
      const known = Object.keys(checks).join(', ')
      throw refusal(option, `There is no option "${option.slice(0, 80)}". Options: ${known}.`)
    }
    const [holds, expected] = checks[option as keyof Options]
    if (value !== undefined && !holds(value)) {
      throw refusal(option, `Option ${option} must be ${expected}.`)
    }
  }
}

function refusal(option: string, message: string): CaissonError {
  return new CaissonError('invalid_argument', message, { details: { option: option.slice(0, 80) } })
}
