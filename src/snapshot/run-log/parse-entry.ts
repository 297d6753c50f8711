/**
 * Entries as they were read, checked before anything is made of them: without a key, whoever writes to the store can
 * write entries of any shape.
 *
 * Invariants
 * 1. What is returned has the type that it says. Values inside of it (arguments, answers, inputs) may be any data.
 * 2. A limit that is younger than the build that wrote an entry has its default.
 * 3. Nothing here believes what an entry says: whether it fits the run is asked where the run is taken up.
 */
import { CaissonError } from '../../base/errors.ts'
import { isGuestError } from '../../machine/guest-error.ts'
import { DEFAULT_LIMITS, type Limits, parseLimits } from '../../machine/limits.ts'
import { isModuleGraph } from '../../machine/module-graph.ts'
import type { RunEntry } from './run-entry.ts'

type Fields = Readonly<Record<string, unknown>>

const SEED_BYTES = 32
const LAST_DATE_MS = 8.64e15
const LABELS: readonly unknown[] = ['plain', 'secret']
const FORMS: readonly unknown[] = ['auto', 'script', 'body', 'module']
const AT_END: readonly unknown[] = ['wait', 'drop']
/** Limits that came later than the first logs. */
const LATER_LIMITS: readonly (keyof Limits)[] = ['timers']
const USAGE = ['fuel', 'memoryBytes', 'calls', 'bytesIn', 'bytesOut', 'logsDropped', 'wallMs', 'idleMs']

const SHAPES: Readonly<Record<string, (entry: Fields) => boolean>> = {
  start: (entry) =>
    entry.version === 1 &&
    ['engine', 'guestId', 'tenant', 'principal', 'source', 'fileName'].every((name) => isText(entry[name])) &&
    LABELS.includes(entry.label) &&
    FORMS.includes(entry.form) &&
    isListOf(entry.capabilities, ({ name, sync }) => isText(name) && typeof sync === 'boolean') &&
    areLimits(entry.limits) &&
    entry.seed instanceof Uint8Array &&
    entry.seed.length === SEED_BYTES &&
    isDate(entry.nowMs) &&
    (entry.written === undefined || isWritten(entry.written)) &&
    (entry.ended === undefined ||
      (isRecord(entry.ended) && isEnd(entry.ended) && entry.ended.status !== 'completed')) &&
    (entry.atEnd === undefined || AT_END.includes(entry.atEnd)) &&
    (entry.atMs === undefined || isDate(entry.atMs)) &&
    (entry.scope === undefined || isFull(entry.scope, isText)) &&
    (entry.modules === undefined || isModuleGraph(entry.modules)),
  open: ({ atMs, limits }) => isDate(atMs) && areLimits(limits),
  intent: isIntent,
  result: ({ answer }) => isRecord(answer) && isAnswer(answer),
  sync: ({ records }) =>
    isListOf(records, (record) => isText(record.capability) && (record.ok === true || isFailure(record))),
  turn: ({ nowMs, answers }) =>
    isDate(nowMs) && isFull(answers, (answer) => isId(answer) || (isRecord(answer) && isAnswer(answer))),
  budget: isBudget,
  mark: ({ name, budget, open, known }) =>
    (name === undefined || isText(name)) &&
    isRecord(budget) &&
    isBudget(budget) &&
    isListOf(open, isIntent) &&
    isListOf(known, isAnswer),
  end: ({ atMs, end, usage, logs, unhandledRejections }) =>
    isDate(atMs) &&
    isRecord(end) &&
    isEnd(end) &&
    isRecord(usage) &&
    USAGE.every((name) => isNumber(usage[name])) &&
    isListOf(logs, (line) => isText(line.level) && isText(line.text) && isDate(line.atMs)) &&
    (unhandledRejections === undefined || isFull(unhandledRejections, isGuestError)),
}

/** @throws CaissonError `corrupted` */
export function parseRunEntry(value: unknown): RunEntry {
  if (isRecord(value) && isText(value.type)) {
    const holds = Object.hasOwn(SHAPES, value.type) ? SHAPES[value.type] : undefined
    if (holds?.(value) === true) return withAllLimits(value as unknown as RunEntry)
  }
  throw new CaissonError('corrupted', 'An entry of the log of a run is none.')
}

function isWritten(written: unknown): boolean {
  if (!isRecord(written)) return false
  const { language, digest, by, places } = written
  return language === 'ts' && isText(digest) && isText(by) && isFull(places, isNumber)
}

/** An entry of a build that knew fewer limits. */
function withAllLimits(entry: RunEntry): RunEntry {
  if (!('limits' in entry) || LATER_LIMITS.every((name) => entry.limits[name] !== undefined)) return entry
  return { ...entry, limits: parseLimits(entry.limits) }
}

function isIntent({ type, id, capability, effect, idempotencyKey, askedAtMs, ...later }: Fields): boolean {
  return (
    type === 'intent' &&
    isId(id) &&
    isText(capability) &&
    isText(effect) &&
    isText(idempotencyKey) &&
    isDate(askedAtMs) &&
    [later.repeatable, later.approved].every((one) => one === undefined || typeof one === 'boolean') &&
    (later.decision === undefined || (isRecord(later.decision) && isDecision(later.decision)))
  )
}

function isDecision({ request, by, comment, edited }: Fields): boolean {
  return [request, by, comment].every(isText) && typeof edited === 'boolean'
}

function isAnswer({ id, ok, error }: Fields): boolean {
  return (
    isId(id) &&
    (ok === true || (ok === false && isRecord(error) && isText(error.code) && isText(error.message)))
  )
}

function isFailure({ ok, code, message }: Fields): boolean {
  return ok === false && isText(code) && isText(message)
}

function isTimeSpent(spent: unknown): boolean {
  return isRecord(spent) && [spent.wallMs, spent.idleMs].every((ms) => isNumber(ms) && (ms as number) >= 0)
}

/** Amounts are checked by the ledger that takes them. */
function isBudget({ type, atMs, ledger, spent }: Fields): boolean {
  if (spent !== undefined && !isTimeSpent(spent)) return false
  if (type !== 'budget' || !isDate(atMs) || !isRecord(ledger) || !isRecord(ledger.accounts)) return false
  return Object.values(ledger.accounts).every(
    (account) => isRecord(account) && isFull(account.rateAgesMs, isNumber),
  )
}

function isEnd({ status, error, limit, message, left }: Fields): boolean {
  switch (status) {
    case 'completed':
      return left === undefined || (isRecord(left) && isLeftBehind(left))
    case 'failed':
      return isGuestError(error)
    case 'exhausted':
      return isText(limit) && isText(message)
    default:
      return false
  }
}

function isLeftBehind({ calls, timers }: Fields): boolean {
  return isNumber(timers) && isListOf(calls, ({ id, capability }) => isId(id) && isText(capability))
}

/** All of them: one that is left out would be none. */
function areLimits(limits: unknown): boolean {
  if (!isRecord(limits)) return false
  const names = Object.keys(DEFAULT_LIMITS) as (keyof Limits)[]
  const missing = names.filter((name) => !isNumber(limits[name]))
  if (missing.some((name) => !LATER_LIMITS.includes(name) || limits[name] !== undefined)) return false
  try {
    parseLimits(limits)
    return true
  } catch {
    return false
  }
}

function isListOf(value: unknown, holds: (one: Fields) => boolean): boolean {
  return isFull(value, (one) => isRecord(one) && holds(one))
}

/** Whether it is a list without holes, which `every` would pass over. */
function isFull(value: unknown, holds: (one: unknown) => boolean): boolean {
  if (!Array.isArray(value)) return false
  for (let i = 0; i < value.length; i += 1) if (!holds(value[i])) return false
  return true
}

function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function isNumber(value: unknown): value is number {
  return Number.isFinite(value)
}

/** Milliseconds since the epoch that a Date can show. */
function isDate(value: unknown): boolean {
  return isNumber(value) && (value as number) >= 0 && (value as number) <= LAST_DATE_MS
}

function isId(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) > 0
}
