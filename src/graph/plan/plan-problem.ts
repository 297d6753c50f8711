/** What is wrong with a plan, and where. */
import { CaissonError, type ErrorCode } from '../../base/errors.ts'

export interface PlanProblem {
  /** JSON Pointer into the document; empty for the whole of it. */
  readonly at: string
  /** Continues "nodes/query/limits: ". */
  readonly problem: string
  /** Index into the text of the plan, for what stands at no pointer. */
  readonly index?: number
  /** Of what a node names, where it is that: what running it would end with. */
  readonly code?: ErrorCode
}

/** Problems of one plan, the first hundred of them: a broken document of a million nodes has as many. */
export class PlanProblems {
  readonly found: PlanProblem[] = []
  /** How many there were in all. */
  count = 0

  add(at: string, problem: string, index?: number): void {
    this.count += 1
    if (this.found.length < MOST_TOLD) this.found.push({ at, problem, ...(index !== undefined && { index }) })
  }
}

const MOST_TOLD = 100

/** @returns `invalid_plan` with `details: { problems, count }`: the first is in its message */
export function invalidPlan(found: readonly PlanProblem[], count: number = found.length): CaissonError {
  const [first] = found
  const more = count > 1 ? ` And ${count - 1} more: see details.problems.` : ''
  const what = first === undefined ? '' : ` ${shownPointer(first.at)}: ${first.problem}.`
  return new CaissonError('invalid_plan', `The plan is not valid.${what}${more}`, {
    details: { problems: found.slice(0, MOST_TOLD), count },
  })
}

/** The pointer to a member: `~` and `/` of its name are escaped (RFC 6901). */
export function pointerTo(at: string, member: string | number): string {
  // Nearly all are written as they are, and nearly none is ever told.
  if (typeof member === 'number' || (member.length <= LONGEST_NAME && !ESCAPED.test(member)))
    return `${at}/${member}`
  return `${at}/${member.slice(0, LONGEST_NAME).replaceAll('~', '~0').replaceAll('/', '~1')}`
}

const LONGEST_NAME = 200
const ESCAPED = /[~/]/

/** A pointer for people: without the first slash. */
export function shownPointer(at: string): string {
  return at === '' ? 'the plan' : at.slice(1)
}
