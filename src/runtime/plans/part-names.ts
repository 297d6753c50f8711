/** Names under which a store has what belongs to a run of a plan: its programs, and the lists of its values. */
import { sha256 } from '../../base/digest.ts'
import { CaissonError } from '../../base/errors.ts'

const PART = /^(.+)\.(?:[0-9a-f]{24}|values-\d+|imported|key|cut)$/

/**
 * Name of a kept run: paths are longer than names may be, and each attempt is a run of its own.
 * @param id of the run of the plan: what another run of this name left behind, or an import that was interrupted, is never
 *   gone on with in the place of its own programs
 */
export function programRun(run: string, id: string, path: string, attempt: number): string {
  const digest = sha256(new TextEncoder().encode(`${id}\n${path}\n${attempt}`))
  return `${run}.${digest.slice('sha256:'.length, 'sha256:'.length + 24)}`
}

/** Name of a list of values. */
export function shelfName(run: string, number: number): string {
  return `${run}.values-${number}`
}

/** Name of what says that a run was imported. */
export function importMarkName(run: string): string {
  return `${run}.imported`
}

/** Name of what has the key that the values of a run are encrypted under. */
export function keyName(run: string): string {
  return `${run}.key`
}

/** Name of what stands in the place of a journal that was cut. */
export function cutName(run: string): string {
  return `${run}.cut`
}

/** Whether a part is a kept run of a program. */
export function isProgramPart(name: string): boolean {
  return /\.[0-9a-f]{24}$/.test(name)
}

/**
 * Whether a part goes along where its run is taken elsewhere. What was to stand in the place of a journal does not: who takes
 * a run takes its journal, and an import that is interrupted would leave a run that was cut.
 */
export function isTaken(part: string): boolean {
  return !part.endsWith('.imported') && !part.endsWith('.cut')
}

/** The run that a name is a part of; undefined for any other name. */
export function ownerOfPart(name: string): string | undefined {
  return PART.exec(name)?.[1]
}

/**
 * A run of a person's that is called like a part of a run of a plan would be taken for it: gone on with in its place,
 * within the rights of the plan, and removed with it.
 * @throws CaissonError `invalid_argument`
 */
export function refusePartName(run: string): void {
  const whole = ownerOfPart(run)
  if (whole === undefined) return
  throw new CaissonError(
    'invalid_argument',
    `"${run}" is what a part of a run "${whole}" of a plan is called: choose another name.`,
    { details: { option: 'run' } },
  )
}
