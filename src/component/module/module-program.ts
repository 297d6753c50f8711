/**
 * What a WASI module is started with, as plain data: the part of `MachineStart` that is its own.
 *
 * It stands in logs and in captures, which may have been written by anybody: it is checked whole before it is used. The
 * module itself is named by the engine id of its machine, and never part of it.
 */
import { CaissonError } from '../../base/errors.ts'
import { showCount } from '../../base/show-count.ts'
import { type GuestWorld, worldBytes, worldProblem } from './guest-world.ts'
import { areModuleCalls, callTexts, type ModuleCall } from './module-call.ts'

export interface ModuleProgram extends GuestWorld {
  readonly kind: 'module'
  readonly version: 1
  /** The export that is run: `_start` of a command, without parameters. Or calls of a reactor, in order. */
  readonly entry: string | readonly ModuleCall[]
  /** Calls before it, in a world that is the same for all runs (`start-up.ts`). */
  readonly startUp?: readonly ModuleCall[]
  /** What becomes of imports that nobody grants; left out, the module is refused. */
  readonly missing?: 'trap'
}

/** @throws CaissonError `corrupted` */
export function parseModuleProgram(given: unknown): ModuleProgram {
  const program = given as Partial<ModuleProgram> | null | undefined
  if (typeof program !== 'object' || program?.kind !== 'module' || program.version !== 1)
    throw refuse('it is none')
  const { entry, startUp, missing } = program
  const isName = typeof entry === 'string' && entry.length <= 1_000
  if (!isName && !areModuleCalls(entry)) throw refuse('its entry is neither a name nor calls')
  if (startUp !== undefined && !areModuleCalls(startUp)) throw refuse('its start-up is no list of calls')
  if (missing !== undefined && missing !== 'trap') throw refuse('it says nothing known of what is missing')
  const problem = worldProblem(program)
  if (problem !== undefined) throw refuse(problem)
  return program as ModuleProgram
}

/** Bytes that it brings into the guest. */
export function programBytes(program: ModuleProgram): number {
  const { entry, startUp = [] } = program
  return worldBytes(program) + callTexts([...startUp, ...(typeof entry === 'string' ? [] : entry)])
}

/** @throws CaissonError `value_too_large` for a program that could not be written down */
export function checkProgramSize(
  program: GuestWorld,
  most: number,
  bytes: number = worldBytes(program),
): void {
  if (bytes <= most) return
  throw new CaissonError(
    'value_too_large',
    `Input, files, arguments and environment of the guest take ${showCount(bytes)} bytes; limit bytesIn allows ${showCount(most)}.`,
  )
}

function refuse(what: string): CaissonError {
  return new CaissonError('corrupted', `The program of a module cannot be used: ${what}.`)
}
