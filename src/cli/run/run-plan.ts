/** Everything that `caisson run` was asked for, checked before anything runs. */

import { createFixedClock, systemClock } from '../../../host-bindings/system/system-clock.ts'
import { type Limits, parseLimits } from '../../machine/limits.ts'
import type { Clock } from '../../ports/clock.ts'
import type { LoadModule } from '../../runtime/module-options.ts'
import type { RunOptions } from '../../runtime/options.ts'
import { CliError } from '../cli-error.ts'
import type { CliIo } from '../cli-io.ts'
import type { GivenFlags } from '../command.ts'
import { EXIT } from '../exit-code.ts'
import { type KeepPlan, planKeeping } from '../kept/keep-plan.ts'
import { pathsOfPlace } from '../kept/store-place.ts'
import { parseCount } from '../units/parse-count.ts'
import { parseInstant } from '../units/parse-instant.ts'
import { grantRights, type Rights } from './grant-rights.ts'
import type { RuntimeSetting } from './in-runtime.ts'
import { readLimits } from './limit-flags.ts'
import { readInput } from './read-input.ts'
import { type ProgramFile, readProgram } from './read-program.ts'
import type { ToolFailures } from './tool-failures.ts'

export interface RunPlan {
  readonly program: ProgramFile
  /** Sources of modules as they are read, by their names. */
  readonly modules: Map<string, string>
  readonly input: unknown
  readonly limits: Limits
  readonly seed: number | undefined
  readonly clock: Clock
  /** Undefined: a Worker if one can be started. */
  readonly thread: 'host' | 'worker' | undefined
  readonly atEnd: RunOptions['atEnd']
  readonly rights: Rights
  /** Undefined: the run is gone when the process is. */
  readonly keep: KeepPlan | undefined
}

/** @throws CliError */
export async function planRun(given: GivenFlags, io: CliIo): Promise<RunPlan> {
  // Flags first: what costs nothing to check is checked before files are read and tools are loaded.
  const limits = parseLimits(readLimits(given, 'run'))
  const seed = readSeed(given.value('seed'))
  const thread = readThread(given.value('thread'), 'run')
  const atEnd = readAtEnd(given.value('at-end'))
  const clock = readClock(given.value('now'))
  const [file = '-'] = given.positionals
  if (file === '-' && given.value('input') === '@-') {
    throw usage('The program and its input cannot both come from standard input.')
  }
  const program = await readProgram(file, io)
  const input = await readInput(given.value('input'), io)
  const keep = await planKeeping(given, program.fileName, io.cwd)
  const kept = keep === undefined ? [] : pathsOf(keep)
  const rights = await grantRights(given, [...(program.path ? [program.path] : []), ...kept], io.cwd)
  return { program, modules: new Map(), input, limits, seed, clock, thread, atEnd, rights, keep }
}

/** The runtime that a plan needs. */
export function runtimeFor(
  { program, clock, rights, limits, thread }: RunPlan,
  failures: ToolFailures,
): RuntimeSetting {
  return {
    options: {
      capabilities: rights.capabilities,
      clock,
      onCapabilityError: (failure) => failures.add(failure),
    },
    memoryBytes: limits.memoryBytes,
    thread,
    progress: `running ${program.fileName}`,
  }
}

/** How its program is run. */
export function optionsFor(
  { program, modules, input, rights, limits, seed, atEnd }: RunPlan,
  signal: AbortSignal,
): RunOptions {
  return {
    input,
    grants: rights.grants,
    limits,
    signal,
    fileName: program.fileName,
    stateDigest: true,
    ...(program.path !== undefined && {
      loadModule: modulesBeside(program.path, program.source, modules),
    }),
    ...(seed !== undefined && { seed }),
    ...(atEnd !== undefined && { atEnd }),
  }
}

/**
 * What reads them is loaded with the first of them: most programs are one file.
 * @param read is given their sources
 */
export function modulesBeside(
  path: string,
  source: string,
  read: Map<string, string> = new Map(),
): LoadModule {
  let load: Promise<LoadModule> | undefined
  return async (module, from) => {
    load ??= import('./module-files.ts').then(({ loadBeside }) => loadBeside(path, source, read))
    return (await load)(module, from)
  }
}

/** What no program may write to: what is believed of its run. */
function pathsOf({ store, file }: KeepPlan): readonly string[] {
  return file === undefined ? pathsOfPlace(store) : [...pathsOfPlace(store), file.path]
}

/** The clock that `--now` asks for. @throws CliError usage */
export function readClock(now: string | undefined): Clock {
  return now === undefined ? systemClock : createFixedClock(parseInstant('now', now))
}

/** @throws CliError usage */
function readAtEnd(text: string | undefined): RunPlan['atEnd'] {
  if (text === undefined || text === 'wait' || text === 'drop' || text === 'suspend') return text
  throw usage(`--at-end takes wait, drop or suspend, not "${text.slice(0, 80)}".`)
}

function readSeed(text: string | undefined): number | undefined {
  return text === undefined ? undefined : parseCount('seed', text, '1')
}

/** @throws CliError usage */
export function readThread(text: string | undefined, command: string): RunPlan['thread'] {
  if (text === undefined || text === 'worker' || text === 'host') return text
  throw usage(`--thread takes worker or host, not "${text.slice(0, 80)}".`, command)
}

function usage(message: string, command = 'run'): CliError {
  return new CliError({ exit: EXIT.usage, code: 'usage', message, hint: `caisson ${command} --help` })
}
