/** The flags that set limits: how their values are read, and which cannot be meant. */
import { CaissonError } from '../../base/errors.ts'
import { showCount } from '../../base/show-count.ts'
import { DEFAULT_LIMITS, type Limits, parseLimits } from '../../machine/limits.ts'
import { CliError } from '../cli-error.ts'
import type { Flag, GivenFlags } from '../command.ts'
import { EXIT } from '../exit-code.ts'
import { parseCount } from '../units/parse-count.ts'
import { parseDuration, showDuration } from '../units/parse-duration.ts'
import { parseSize, showSize, sizeMeant } from '../units/parse-size.ts'

interface LimitFlag {
  readonly limit: keyof Limits
  readonly value: string
  /** What it bounds; its default follows in help. */
  readonly help: string
  parse(text: string): number
  show(amount: number): string
  /** The default as the flag takes it. */
  asFlag(amount: number): string
}

const withoutCommas = (amount: number): string => showCount(amount).replaceAll(',', '_')
const withoutSpace = (shown: string): string => shown.replace(' ', '')

const LIMIT_FLAGS: Readonly<Record<string, LimitFlag>> = {
  fuel: {
    limit: 'fuel',
    value: 'N',
    help: 'Work, counted exactly: about 2 to 35 million units pass in a millisecond.',
    parse: (text) => parseCount('fuel', text, '2_000_000_000'),
    show: showCount,
    asFlag: withoutCommas,
  },
  memory: {
    limit: 'memoryBytes',
    value: '32MiB',
    help: 'Memory of the program, engine included; at least 1MiB.',
    parse: (text) => parseSize('memory', text),
    show: showSize,
    asFlag: (bytes) => withoutSpace(showSize(bytes)),
  },
  timeout: {
    limit: 'wallMs',
    value: '5s',
    help: 'Time in which the program computes or its calls work: 100ms, 5s, 2m. Waiting for timers alone does not count: --idle bounds that.',
    parse: (text) => parseDuration('timeout', text),
    show: showDuration,
    asFlag: (ms) => withoutSpace(showDuration(ms)),
  },
  idle: {
    limit: 'idleMs',
    value: '1h',
    help: 'Time in which the program waits for nothing but its timers: 5s, 2m, 1h.',
    parse: (text) => parseDuration('idle', text),
    show: showDuration,
    asFlag: (ms) => withoutSpace(showDuration(ms)),
  },
  stack: {
    limit: 'stackBytes',
    value: '1MiB',
    help: 'Depth of recursion; a call takes 1 to 6 KiB.',
    parse: (text) => parseSize('stack', text),
    show: showSize,
    asFlag: (bytes) => withoutSpace(showSize(bytes)),
  },
  calls: {
    limit: 'calls',
    value: 'N',
    help: 'Calls of granted capabilities.',
    parse: (text) => parseCount('calls', text, '1000'),
    show: showCount,
    asFlag: withoutCommas,
  },
  timers: {
    limit: 'timers',
    value: 'N',
    help: 'Timers that are set, and repetitions of intervals.',
    parse: (text) => parseCount('timers', text, '10_000'),
    show: showCount,
    asFlag: withoutCommas,
  },
}

/** Flags of a program that starts, with the library's own defaults. */
export const STARTING_LIMITS: readonly Flag[] = Object.entries(LIMIT_FLAGS).map(
  ([name, { limit, value, help, asFlag }]) => ({
    name,
    value,
    help: `${help} Default ${asFlag(DEFAULT_LIMITS[limit])}.`,
  }),
)

/** Flags of a program that goes on: the limits that can be raised by then. */
export const LATER_LIMITS: readonly Flag[] = ['memory', 'timeout', 'idle', 'calls', 'timers'].map((name) => {
  const { value = '', help = '' } = LIMIT_FLAGS[name] ?? {}
  return { name, value, help: `${help} Default: what it had.` }
})

/**
 * The limits that flags give.
 * @param command whose help is named
 * @throws CliError usage
 */
export function readLimits(given: GivenFlags, command: string): Partial<Limits> {
  const limits: Partial<Record<keyof Limits, number>> = {}
  for (const [flag, { limit, parse, show }] of Object.entries(LIMIT_FLAGS)) {
    const text = given.value(flag)
    if (text === undefined) continue
    const amount = parse(text)
    try {
      parseLimits({ [limit]: amount })
    } catch (error) {
      if (!CaissonError.is(error, 'invalid_limit')) throw error
      const { min, max } = error.details
      const message = implausible(flag, text, show, Number(min), Number(max))
      throw new CliError({ exit: EXIT.usage, code: 'usage', message, hint: `caisson ${command} --help` })
    }
    limits[limit] = amount
  }
  return limits
}

function implausible(
  flag: string,
  text: string,
  show: (value: number) => string,
  min: number,
  max: number,
): string {
  const range = `it takes ${show(min)} to ${show(max)}.`
  const meant = show === showSize ? sizeMeant(text, min, max) : undefined
  return meant === undefined
    ? `--${flag} ${text} cannot be meant: ${range}`
    : `--${flag} ${text} has no unit, and so few bytes cannot be meant: ${range} Did you mean --${flag} ${meant}?`
}
