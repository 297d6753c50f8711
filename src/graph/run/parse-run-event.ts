/**
 * Events as they were read, checked before a state is made of them: without a key, whoever writes to the store can
 * write records of any shape.
 *
 * Invariants
 * 1. What is returned has the type that it says, and no member more. Values inside of it may be any data.
 * 2. Nothing here believes what an event says: whether it may follow is asked where the state is.
 * 3. Journals of a newer format are refused as such, and not as damaged.
 * 4. What the host adds passes the same checks before it is written: what is written can be read again.
 */
import { CaissonError } from '../../base/errors.ts'
import { clipText, escapeText } from '../../base/escape-text.ts'
import { PlanProblems } from '../plan/plan-problem.ts'
import { isObject } from '../plan/shape.ts'
import {
  type EventType,
  type RecordedEvent,
  RUN_FORMAT,
  type RunEvent,
  SEALED_RUN_FORMAT,
} from './run-event.ts'
import { RUN_EVENT_SHAPES } from './run-event-shapes.ts'

/**
 * A record of a journal as the event that it is.
 * @param at its number, from 0: for messages, and because the first one names the format
 * @throws CaissonError `corrupted` with `details: { at, member, problem }`, `unsupported` for a newer format, with
 *   `details: { at, format, known }`
 */
export function parseRunEvent(record: unknown, at: number): RecordedEvent {
  if (!isObject(record)) throw damaged(at, '', 'it is no object')
  const { type } = record
  if (typeof type !== 'string' || !Object.hasOwn(RUN_EVENT_SHAPES, type))
    throw damaged(at, 'type', `no event is called ${shown(type)}`)
  if (type === 'proposed') checkFormat(record.format, at)
  const problems = new PlanProblems()
  RUN_EVENT_SHAPES[type as EventType].check(record, '', problems)
  const [first] = problems.found
  if (first !== undefined) throw damaged(at, first.at.slice(1), first.problem, type)
  return record as unknown as RecordedEvent
}

/**
 * An event that somebody outside had a part in, before it is written.
 * @throws CaissonError `invalid_argument` with `details: { member }`
 */
export function checkRunEvent(event: RunEvent): void {
  const problems = new PlanProblems()
  RUN_EVENT_SHAPES[event.type].check({ ...event, timeMs: 0 }, '', problems)
  const [first] = problems.found
  if (first === undefined) return
  const member = first.at.slice(1)
  throw new CaissonError(
    'invalid_argument',
    `What is given cannot be written down: ${escapeText(clipText(member, 200))}: ${first.problem}.`,
    { details: { member } },
  )
}

function checkFormat(format: unknown, at: number): void {
  if (format === RUN_FORMAT || format === SEALED_RUN_FORMAT) return
  if (typeof format !== 'string' || !/^run\/[1-9][0-9]{0,8}$/.test(format))
    throw damaged(at, 'format', `${shown(format)} is no format of a journal`, 'proposed')
  throw new CaissonError(
    'unsupported',
    `The journal is of format ${format}, and ${SEALED_RUN_FORMAT} is the newest that can be read here: use a newer version.`,
    { details: { at, format, known: SEALED_RUN_FORMAT } },
  )
}

function damaged(at: number, member: string, problem: string, type?: string): CaissonError {
  const what = type === undefined ? '' : ` ("${type}")`
  const where = member === '' ? '' : `${escapeText(clipText(member, 200))}: `
  return new CaissonError('corrupted', `Entry ${at} of the journal${what} is damaged: ${where}${problem}.`, {
    details: { at, member, problem },
  })
}

function shown(value: unknown): string {
  return typeof value === 'string' ? `"${escapeText(clipText(value, 60))}"` : `a ${typeof value}`
}
