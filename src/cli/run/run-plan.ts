/** Everything that `caisson run` was asked for, checked before anything runs. */

import { createFixedClock, systemClock } from '../../../host-bindings/system/system-clock.ts'
import { CaissonError } from '../../base/errors.ts'
import { showCount } from '../../base/show-count.ts'
import { DEFAULT_LIMITS, type Limits, parseLimits } from '../../machine/limits.ts'
import type { Clock } from '../../ports/clock.ts'
import { CliError } from '../cli-error.ts'
import type { CliIo } from '../cli-io.ts'
import type { GivenFlags } from '../command.ts'
import { EXIT } from '../exit-code.ts'
import { parseCount } from '../units/parse-count.ts'
import { parseDuration, showDuration } from '../units/parse-duration.ts'
import { parseInstant } from '../units/parse-instant.ts'
import { parseSize, showSize, sizeMeant } from '../units/parse-size.ts'
import { grantRights, type Rights } from './grant-rights.ts'
import { readInput } from './read-input.ts'
import { type ProgramFile, readProgram } from './read-program.ts'

export interface RunPlan {
  readonly program: ProgramFile
  readonly input: unknown
  readonly limits: Limits
  readonly seed: number | undefined
  readonly clock: Clock
  /** Undefined: a Worker if one can be started. */
  readonly thread: 'host' | 'worker' | undefined
  readonly rights: Rights
}

/** Flags of limits: the limit, how its value is read, how its bounds are shown. */
const LIMIT_FLAGS = {
  fuel: {
    limit: 'fuel',
    parse: (text: string) => parseCount('fuel', text, '2_000_000_000'),
    show: showCount,
  },
  memory: { limit: 'memoryBytes', parse: (text: string) => parseSize('memory', text), show: showSize },
  timeout: { limit: 'wallMs', parse: (text: string) => parseDuration('timeout', text), show: showDuration },
  stack: { limit: 'stackBytes', parse: (text: string) => parseSize('stack', text), show: showSize },
  calls: { limit: 'calls', parse: (text: string) => parseCount('calls', text, '1000'), show: showCount },
} as const

/** @throws CliError */
export async function planRun(given: GivenFlags, io: CliIo): Promise<RunPlan> {
  // Flags first: what costs nothing to check is checked before files are read and tools are loaded.
  const limits = readLimits(given)
  const seed = readSeed(given.value('seed'))
  const thread = readThread(given.value('thread'))
  const now = given.value('now')
  const clock = now === undefined ? systemClock : createFixedClock(parseInstant('now', now))
  const [file = '-'] = given.positionals
  if (file === '-' && given.value('input') === '@-') {
    throw usage('The program and its input cannot both come from standard input.')
  }
  const program = await readProgram(file, io)
  const input = await readInput(given.value('input'), io)
  const rights = await grantRights(given, program.path, io.cwd)
  return { program, input, limits, seed, clock, thread, rights }
}

function readLimits(given: GivenFlags): Limits {
  let limits = DEFAULT_LIMITS
  for (const [flag, { limit, parse, show }] of Object.entries(LIMIT_FLAGS)) {
    const text = given.value(flag)
    if (text === undefined) continue
    try {
      limits = parseLimits({ ...limits, [limit]: parse(text) })
    } catch (error) {
      if (!CaissonError.is(error, 'invalid_limit')) throw error
      const { min, max } = error.details
      throw usage(implausible(flag, text, show, Number(min), Number(max)))
    }
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

function readSeed(text: string | undefined): number | undefined {
  return text === undefined ? undefined : parseCount('seed', text, '1')
}

function readThread(text: string | undefined): RunPlan['thread'] {
  if (text === undefined || text === 'worker' || text === 'host') return text
  throw usage(`--thread takes worker or host, not "${text.slice(0, 80)}".`)
}

function usage(message: string): CliError {
  return new CliError({ exit: EXIT.usage, code: 'usage', message, hint: 'caisson run --help' })
}
