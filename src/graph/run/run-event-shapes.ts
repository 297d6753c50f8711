/**
 * What may stand in an event of a run, type by type. An event, or a member of one, without a shape here does not
 * compile.
 *
 * Texts that people and guests wrote are bounded widely: what a runner wrote down must be read again.
 */
import { isDigest } from '../../base/digest.ts'
import { ERROR_CLASSES } from '../plan/plan.ts'
import {
  fields,
  flag,
  isObject,
  list,
  number,
  oneOf,
  record,
  type Shape,
  text,
  variants,
} from '../plan/shape.ts'
import type {
  Asked,
  CallAnswer,
  CallInDoubt,
  EventType,
  Failure,
  GrantUsed,
  NodeEventType,
  Origin,
  Ran,
  RecordedEvent,
  Used,
  ValueRef,
  Waiting,
} from './run-event.ts'

const LARGEST = Number.MAX_SAFE_INTEGER
/** The last moment that a `Date` can name. */
const LAST_MS = 8.64e15
const MOST_LISTED = 100_000
/** Of one value. */
const MOST_PIECES = 1_000

/** A shape of a member that may be left out. */
interface LeftOut {
  readonly optional: Shape
}

type Members<T> = {
  readonly [K in keyof T]-?: Partial<Pick<T, K>> extends Pick<T, K> ? LeftOut : Shape
}

/** An object with exactly the members of its type. */
function objectOf<T>(members: Members<T>): Shape {
  return shapeOf(members)
}

function shapeOf(members: Readonly<Record<string, Shape | LeftOut>>): Shape {
  const entries = Object.entries(members)
  const shapes = entries.map(([name, member]) => [name, 'optional' in member ? member.optional : member])
  const required = entries.filter(([, member]) => !('optional' in member)).map(([name]) => name)
  return fields(Object.fromEntries(shapes), required)
}

const optional = (shape: Shape): LeftOut => ({ optional: shape })

/** Any data: its size is bounded with the record that it stands in. */
const ANYTHING: Shape = { schema: {}, check() {} }
const WORDS = text({ max: 100_000 })
const NAME = text({ min: 1, max: 1_000 })
/** Ids of nodes, 64 characters each and nested 16 deep at most, and numbers between them. */
const PATH = text({ min: 1, max: 2_000 })
const PATH_OR_NONE = text({ max: 2_000 })
const NUMBER = number({ min: 0, max: LARGEST })
const COUNT = number({ min: 1, max: LARGEST })
const AMOUNT = number({ min: 0, max: Number.MAX_VALUE, whole: false })
const TIME = number({ min: 0, max: LAST_MS, whole: false })
/** Plans may name any time. */
const ANY_TIME = number({ min: -Number.MAX_VALUE, max: Number.MAX_VALUE, whole: false })

const DIGEST: Shape = {
  schema: { type: 'string', pattern: '^sha256:[0-9a-f]{64}$' },
  check(value, at, problems) {
    if (!isDigest(value)) problems.add(at, 'must be a digest: "sha256:" and 64 hexadecimal digits')
  },
}

/** One of two, told apart by whether it has the member. */
function byMember(member: string, has: Shape, lacks: Shape): Shape {
  return {
    schema: { anyOf: [has.schema, lacks.schema] },
    check(value, at, problems) {
      const isThere = typeof value === 'object' && value !== null && Object.hasOwn(value, member)
      ;(isThere ? has : lacks).check(value, at, problems)
    },
  }
}

/** A program that gives nothing gives undefined: as the value of this member, that is a value like any other. */
function withUndefined(member: string, shape: Shape): Shape {
  return {
    schema: shape.schema,
    check(value, at, problems) {
      const isUndefined = isObject(value) && Object.hasOwn(value, member) && value[member] === undefined
      shape.check(isUndefined ? { ...value, [member]: null } : value, at, problems)
    },
  }
}

const isTrue: Shape = {
  schema: { const: true },
  check(value, at, problems) {
    if (value !== true) problems.add(at, 'must be true, or be left out')
  },
}

const VALUE: Shape = byMember(
  'digest',
  objectOf<Extract<ValueRef, { digest: unknown }>>({
    digest: DIGEST,
    bytes: NUMBER,
    pieces: optional(list(WORDS, { min: 1, max: MOST_PIECES })),
    sealed: optional(isTrue),
  }),
  withUndefined('value', objectOf<Extract<ValueRef, { value: unknown }>>({ value: ANYTHING })),
)

const FAILURE: Shape = objectOf<Failure>({
  class: oneOf(ERROR_CLASSES),
  code: WORDS,
  message: WORDS,
  retryAfterMs: optional(AMOUNT),
})

const AMOUNTS: Shape = record(AMOUNT, {
  pattern: '^[^]{1,1000}$',
  problem: (unit) => (unit.length > 0 && unit.length <= 1_000 ? undefined : 'is no name of a unit'),
  max: 1_000,
})

const GRANT_USED: Shape = objectOf<GrantUsed>({
  calls: optional(AMOUNT),
  bytesIn: optional(AMOUNT),
  bytesOut: optional(AMOUNT),
  units: optional(AMOUNTS),
})

const usedParts: Members<Used> = {
  fuel: optional(AMOUNT),
  calls: optional(AMOUNT),
  steps: optional(AMOUNT),
  activeMs: optional(AMOUNT),
  bytes: optional(AMOUNT),
  units: optional(AMOUNTS),
  by: optional(
    record(GRANT_USED, {
      pattern: '^[^]{1,1000}$',
      problem: (name) => (name.length > 0 && name.length <= 1_000 ? undefined : 'is no name of a capability'),
      max: 10_000,
    }),
  ),
}

const USED: Shape = objectOf<Used>(usedParts)

const ORIGIN: Shape = objectOf<Origin>({ run: NAME, id: NAME, events: COUNT, point: DIGEST })

const RAN: Shape = objectOf<Ran>({
  engine: NAME,
  state: optional(NAME),
  log: optional(objectOf<NonNullable<Ran['log']>>({ entries: COUNT, digest: DIGEST })),
})

const TOOLS: Shape = record(DIGEST, {
  pattern: '^[^]{1,1000}$',
  problem: (name) => (name.length > 0 && name.length <= 1_000 ? undefined : 'is no name of a capability'),
  max: 10_000,
})

const ok: Shape = flag
const ANSWER: Shape = {
  schema: {},
  check(value, at, problems) {
    const isOk = typeof value === 'object' && value !== null && (value as { ok?: unknown }).ok === true
    ;(isOk ? ANSWERED : NOT_ANSWERED).check(value, at, problems)
  },
}
const ANSWERED = objectOf<Extract<CallAnswer, { ok: true }>>({ ok, value: VALUE })
const NOT_ANSWERED = objectOf<Extract<CallAnswer, { ok: false }>>({ ok, error: FAILURE })

const IN_DOUBT: Shape = objectOf<CallInDoubt>({ call: COUNT, capability: NAME, args: VALUE })
const ASKED: Shape = objectOf<Asked>({ request: DIGEST, shown: VALUE, expiresAtMs: optional(ANY_TIME) })

type Instead = NonNullable<Extract<Waiting, { for: 'person' }>['instead']>
type WaitingFor<For extends Waiting['for']> = Extract<Waiting, { for: For }>
const WAITING: Shape = variants('for', {
  person: objectOf<WaitingFor<'person'>>({
    for: NAME,
    asked: list(ASKED, { max: MOST_LISTED }),
    wakeAtMs: optional(ANY_TIME),
    instead: optional(objectOf<Instead>({ error: FAILURE, fallback: NUMBER })),
  }),
  time: objectOf<WaitingFor<'time'>>({ for: NAME, atMs: ANY_TIME }),
  event: objectOf<WaitingFor<'event'>>({ for: NAME, name: WORDS, expiresAtMs: optional(ANY_TIME) }),
})

const FREEZE_REASON = oneOf(['interrupted', 'in_doubt', 'budget', 'loop_guard', 'asked'])

type EventOf<Type extends EventType> = Extract<RecordedEvent, { type: Type }>
type Common = 'type' | 'timeMs'

const common: Members<Pick<RecordedEvent, Common>> = { type: NAME, timeMs: TIME }

function event<Type extends EventType>(members: Members<Omit<EventOf<Type>, Common>>): Shape {
  return shapeOf({ ...members, ...common })
}

type OfNode = 'node' | 'used' | 'ran'

function nodeEvent<Type extends NodeEventType>(
  members: Members<Omit<EventOf<Type>, Common | OfNode>>,
): Shape {
  return shapeOf({ ...members, ...common, node: PATH, used: optional(USED), ran: optional(RAN) })
}

/** Of what events consist of, and states too. */
export const EVENT_PARTS: Readonly<
  Record<'value' | 'failure' | 'used' | 'grantUsed' | 'waiting' | 'asked' | 'inDoubt' | 'answer', Shape>
> = {
  value: VALUE,
  failure: FAILURE,
  used: USED,
  grantUsed: GRANT_USED,
  waiting: WAITING,
  asked: ASKED,
  inDoubt: IN_DOUBT,
  answer: ANSWER,
}

/** By the type of the event. */
export const RUN_EVENT_SHAPES: Readonly<Record<EventType, Shape>> = {
  proposed: event<'proposed'>({
    format: NAME,
    id: NAME,
    plan: DIGEST,
    input: VALUE,
    tools: TOOLS,
    scope: optional(list(text({ min: 1, max: 10_000 }), { min: 1, max: 1_000 })),
    by: NAME,
    from: optional(list(ORIGIN, { min: 1, max: MOST_LISTED })),
  }),
  approved: event<'approved'>({ request: DIGEST, by: NAME, comment: optional(WORDS) }),
  rejected: event<'rejected'>({ by: NAME, reason: WORDS }),
  started: event<'started'>({ by: NAME, atMs: TIME }),
  frozen: event<'frozen'>({ reason: FREEZE_REASON, message: WORDS, part: optional(NAME) }),
  confirmed: event<'confirmed'>({
    point: DIGEST,
    by: NAME,
    more: optional(objectOf<Used & { wallMs?: number }>({ ...usedParts, wallMs: optional(AMOUNT) })),
  }),
  cancel_asked: event<'cancel_asked'>({ by: NAME, reason: WORDS }),
  failing: event<'failing'>({ error: FAILURE, node: PATH_OR_NONE }),
  undoing: event<'undoing'>({}),
  completed: event<'completed'>({ output: VALUE }),
  failed: event<'failed'>({ error: FAILURE }),
  cancelled: event<'cancelled'>({}),
  compensated: event<'compensated'>({ left: list(PATH, { max: MOST_LISTED }), more: optional(COUNT) }),
  node_started: nodeEvent<'node_started'>({ attempt: COUNT, input: VALUE }),
  node_skipped: nodeEvent<'node_skipped'>({
    reason: oneOf(['condition', 'not_chosen', 'not_needed', 'skipped_before', 'decided']),
    by: optional(NAME),
  }),
  node_called: nodeEvent<'node_called'>({
    call: COUNT,
    key: NAME,
    repeatable: flag,
    args: optional(DIGEST),
  }),
  node_answered: nodeEvent<'node_answered'>({
    call: COUNT,
    answer: optional(ANSWER),
    by: optional(NAME),
  }),
  node_expanded: nodeEvent<'node_expanded'>({ items: NUMBER }),
  node_round: nodeEvent<'node_round'>({ round: NUMBER, state: VALUE, done: flag }),
  node_waiting: nodeEvent<'node_waiting'>({ waiting: WAITING }),
  node_woken: nodeEvent<'node_woken'>({ value: optional(VALUE), by: optional(NAME) }),
  node_decided: nodeEvent<'node_decided'>({
    request: DIGEST,
    by: NAME,
    approved: flag,
    comment: optional(WORDS),
    reason: optional(WORDS),
    value: optional(VALUE),
  }),
  node_withdrawn: nodeEvent<'node_withdrawn'>({ request: DIGEST, by: NAME }),
  node_frozen: nodeEvent<'node_frozen'>({
    reason: FREEZE_REASON,
    calls: optional(list(IN_DOUBT, { max: MOST_LISTED })),
  }),
  node_thawed: nodeEvent<'node_thawed'>({ again: flag, by: optional(NAME) }),
  node_completed: nodeEvent<'node_completed'>({
    output: VALUE,
    chosen: optional(list(NAME, { max: MOST_LISTED })),
  }),
  node_failed: nodeEvent<'node_failed'>({ error: FAILURE, standby: optional(NAME) }),
  node_retrying: nodeEvent<'node_retrying'>({
    atMs: ANY_TIME,
    error: FAILURE,
    jitter: optional(AMOUNT),
  }),
  node_recovered: nodeEvent<'node_recovered'>({
    error: FAILURE,
    fallback: number({ min: -1, max: LARGEST }),
    output: VALUE,
    ageMs: optional(AMOUNT),
  }),
  node_cancelled: nodeEvent<'node_cancelled'>({}),
  node_undoing: nodeEvent<'node_undoing'>({}),
  node_undone: nodeEvent<'node_undone'>({}),
  node_not_undone: nodeEvent<'node_not_undone'>({ error: FAILURE }),
}
