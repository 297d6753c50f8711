/**
 * What a component is started with as a guest that is run to its end: one call of an export, and its world, as plain data.
 *
 * It stands in logs and in captures, which may have been written by anybody: it is checked whole before it is used. The
 * component itself is named by the engine id of its machine, and never part of it.
 */
import { CaissonError } from '../base/errors.ts'
import { type GuestWorld, worldProblem } from './module/guest-world.ts'

export interface ComponentProgram {
  readonly kind: 'component'
  readonly version: 1
  /** As `call` of an open component takes it. */
  readonly export: string
  /** Plain values in the order of its parameters (`wit-value.ts`). */
  readonly args: readonly unknown[]
  /** Of WASI; null: nothing of it is there. */
  readonly world: GuestWorld | null
  /** Its value is a `ComponentResult`: also what it wrote. */
  readonly collects?: true
}

const MOST_ARGUMENTS = 1_000
const LONGEST_NAME = 1_000

/** @throws CaissonError `corrupted` */
export function parseComponentProgram(given: unknown): ComponentProgram {
  const program = given as Partial<ComponentProgram> | null | undefined
  if (typeof program !== 'object' || program?.kind !== 'component' || program.version !== 1)
    throw refuse('it is none')
  const { export: name, args, world, collects } = program
  if (typeof name !== 'string' || name.length > LONGEST_NAME) throw refuse('its export is no name')
  if (!Array.isArray(args) || args.length > MOST_ARGUMENTS) throw refuse('its arguments are no list')
  if (typeof world !== 'object') throw refuse('it has no world')
  if (collects !== undefined && collects !== true) throw refuse('it says nothing known of what it collects')
  const problem = world === null ? undefined : worldProblem(world)
  if (problem !== undefined) throw refuse(problem)
  return program as ComponentProgram
}

function refuse(what: string): CaissonError {
  return new CaissonError('corrupted', `The program of a component cannot be used: ${what}.`)
}
