/** What may stand in an image of a state: whoever writes to the store can write images of any shape. */
import { fields, flag, isObject, list, number, oneOf, type Shape, text } from '../plan/shape.ts'
import { EVENT_PARTS, RUN_EVENT_SHAPES } from './run-event-shapes.ts'
import { STATE_IMAGE_FORMAT } from './state-image.ts'
import { NODE_STATES, RUN_STATES } from './transitions.ts'

const { value, failure, used, grantUsed, waiting, inDoubt, answer } = EVENT_PARTS

const LARGEST = Number.MAX_SAFE_INTEGER
const MOST = 10_000_000
const WORDS = text({ max: 100_000 })
const NAME = text({ min: 1, max: 1_000 })
const PATH = text({ max: 2_000 })
const COUNT = number({ min: 0, max: LARGEST })
const WHOLE = number({ min: -LARGEST, max: LARGEST })
const TIME = number({ min: -Number.MAX_VALUE, max: Number.MAX_VALUE, whole: false })
const NUMBER = number({ min: 0, max: MOST })
const NUMBERS = list(NUMBER, { max: MOST })
const FREEZE_REASON = oneOf(['interrupted', 'in_doubt', 'budget', 'loop_guard', 'asked'])

/** Lists of so many members, each of its own shape. */
function tuple(...members: readonly Shape[]): Shape {
  return {
    schema: {},
    check(given, at, problems) {
      if (!Array.isArray(given) || given.length !== members.length)
        return problems.add(at, `must be a list of ${members.length}`)
      for (const [i, member] of members.entries()) member.check(given[i], `${at}/${i}`, problems)
    },
  }
}

/** Members of a node, with more of its own. */
const DECISION = fields({ by: NAME, approved: flag, comment: WORDS, reason: WORDS, value, atMs: TIME }, [
  'by',
  'approved',
  'comment',
  'reason',
  'atMs',
])

const DIGEST = text({ max: 71, pattern: /^sha256:[0-9a-f]{64}$/ })

const REQUEST = fields({ request: DIGEST, shown: value, expiresAtMs: TIME, decision: DECISION, used: flag }, [
  'request',
  'shown',
  'used',
])

/** What is known of a call in doubt, and what somebody said of it. */
const DOUBT: Shape = {
  schema: {},
  check(given, at, problems) {
    if (!isObject(given)) return problems.add(at, 'must be an object')
    const { settled, answer: said, ...call } = given as Record<string, unknown>
    inDoubt.check(call, at, problems)
    flag.check(settled, `${at}/settled`, problems)
    if (said !== undefined) answer.check(said, `${at}/answer`, problems)
  },
}

const NODE = fields(
  {
    scope: NUMBER,
    id: NAME,
    status: oneOf(NODE_STATES),
    attempt: COUNT,
    startedAtMs: TIME,
    endedAtMs: TIME,
    attemptAtMs: TIME,
    input: value,
    output: value,
    chosen: list(NAME, { max: 100_000 }),
    skipped: oneOf(['condition', 'not_chosen', 'not_needed', 'skipped_before', 'decided']),
    waiting,
    requests: list(REQUEST, { max: 100_000 }),
    instead: fields({ error: failure, fallback: COUNT }, ['error', 'fallback']),
    asks: COUNT,
    woken: value,
    retryAtMs: TIME,
    error: failure,
    used,
    counted: used,
    frozenFor: FREEZE_REASON,
    standby: NAME,
    items: COUNT,
    call: fields({ id: COUNT, key: NAME, repeatable: flag, answer }, ['id', 'key', 'repeatable']),
    doubts: list(DOUBT, { max: 100_000 }),
    innerEnded: COUNT,
    innerLive: WHOLE,
    innerFailed: NUMBER,
    rounds: COUNT,
    roundState: value,
    roundsDone: flag,
  },
  ['scope', 'id', 'status'],
)

const SCOPE = fields(
  {
    owner: NUMBER,
    index: COUNT,
    isOpen: flag,
    waits: list(WHOLE, { max: MOST }),
    open: WHOLE,
    live: WHOLE,
    failed: NUMBER,
  },
  ['index', 'isOpen', 'waits', 'open', 'live'],
)

const ANY_TEXT = text({ max: LARGEST })
const LOOPS = fields(
  {
    calls: list(tuple(ANY_TEXT, ANY_TEXT, COUNT, COUNT), { max: 100_000 }),
    errors: list(tuple(ANY_TEXT, ANY_TEXT, COUNT), { max: MOST }),
    seen: list(ANY_TEXT, { max: 100_000 }),
    last: list(ANY_TEXT, { max: 1_000 }),
    turns: COUNT,
    idle: COUNT,
    begun: list(tuple(ANY_TEXT, ANY_TEXT, ANY_TEXT), { max: MOST }),
  },
  ['calls', 'errors', 'seen', 'last', 'turns', 'idle', 'begun'],
)

const GRANT = fields({ place: PATH, capability: NAME, used: grantUsed, times: list(TIME, { max: MOST }) }, [
  'place',
  'capability',
  'used',
  'times',
])

const FAILED_AT = fields({ node: PATH, error: failure }, ['node', 'error'])

/** What was allowed on top of a budget, as an event says it. */
const MORE: Shape = {
  schema: {},
  check(given, at, problems) {
    if (!isObject(given)) return problems.add(at, 'must be an object')
    const { wallMs = 0, ...sums } = given as Record<string, unknown>
    TIME.check(wallMs, `${at}/wallMs`, problems)
    used.check(sums, at, problems)
  },
}

export const STATE_IMAGE_SHAPE: Shape = fields(
  {
    format: oneOf([STATE_IMAGE_FORMAT]),
    status: oneOf(RUN_STATES),
    proposal: RUN_EVENT_SHAPES.proposed,
    approval: fields({ by: NAME, request: DIGEST, timeMs: TIME }, ['by', 'request', 'timeMs']),
    reason: WORDS,
    frozen: fields({ reason: FREEZE_REASON, message: WORDS, part: NAME }, ['reason', 'message']),
    left: list(PATH, { max: 100_000 }),
    timeMs: TIME,
    failure: FAILED_AT,
    output: value,
    startedAtMs: TIME,
    used,
    more: MORE,
    calls: COUNT,
    events: COUNT,
    grants: list(GRANT, { max: MOST }),
    loops: LOOPS,
    scopes: list(SCOPE, { max: MOST }),
    nodes: list(NODE, { max: MOST }),
    ready: list(tuple(NUMBER, NAME), { max: MOST }),
    live: NUMBERS,
    toConclude: NUMBERS,
    toStandIn: NUMBERS,
    toGoOn: NUMBERS,
    toThaw: NUMBERS,
    undoable: NUMBERS,
    undoing: NUMBER,
  },
  [
    'format',
    'status',
    'proposal',
    'left',
    'timeMs',
    'used',
    'more',
    'calls',
    'events',
    'grants',
    'loops',
    'scopes',
    'nodes',
    'ready',
    'live',
    'toConclude',
    'toStandIn',
    'toGoOn',
    'toThaw',
    'undoable',
  ],
)
