/**
 * The options of runs of plans, checked before anything is read, taken or written.
 *
 * Invariant: whatever stands in the place of an option, or is misspelt, is refused as `invalid_argument` by the name of
 * the option: no method of a run throws an error of the language for what it is given.
 */
import { isDigest } from '../../base/digest.ts'
import { CaissonError } from '../../base/errors.ts'
import {
  anAbortSignal,
  anObject,
  anything,
  aText,
  checkOptions,
  listOf,
  type OptionCheck,
  type OptionChecks,
  oneOf,
  trueOrFalse,
  wholeFrom,
} from '../../base/option-checks.ts'
import type { Decision } from '../../graph/run/decisions.ts'
import type { DoubtAnswer } from '../../graph/run/doubts.ts'
import { RUN_EVENT_SHAPES } from '../../graph/run/run-event-shapes.ts'
import { encodeReceipt, type SignedReceipt } from '../../journal/receipt.ts'
import type { ForkOptions } from './fork-run.ts'
import type {
  ApproveOptions,
  By,
  CheckPlanOptions,
  CompactOptions,
  EraseOptions,
  EventsOptions,
  PlanRunOptions,
  ProposeOptions,
  ReasonOptions,
  ResumePlanOptions,
  StartOptions,
} from './plan-run.ts'
import type { KnownPoint } from './verify/evidence.ts'
import type { VerifyOptions } from './verify/verification.ts'

const LONGEST_TEXT = 100_000
const LONGEST_NAME = 1_000

/** Members of a union, all of them. */
type Members<T> = Partial<Record<T extends unknown ? keyof T : never, unknown>>

const BY: OptionCheck = [
  (value) => typeof value === 'string' && /^\P{Cc}{1,200}$/u.test(value),
  'who does it: 1 to 200 characters without control characters',
]
const TEXT: OptionCheck = [
  (value) => typeof value === 'string' && value.length <= LONGEST_TEXT,
  'a text of at most 100,000 characters',
]
const NAME: OptionCheck = [
  (value) => typeof value === 'string' && value !== '' && value.length <= LONGEST_NAME,
  'a text of 1 to 1,000 characters',
]
const DIGEST: OptionCheck = [isDigest, 'a digest: "sha256:" and 64 hexadecimal digits']
const AMOUNT: OptionCheck = [isAmount, 'a number from 0 on']

const AMOUNTS_OBJECT: OptionCheck = [isAmountsObject, 'an object: { fuel, calls, ... }']

const WASM: OptionCheck = [
  (value) => Array.isArray(value) && value.every((bytes) => bytes instanceof Uint8Array),
  'a list of Uint8Arrays',
]

const WHOSE: OptionChecks<PlanRunOptions> = { domain: aText, principal: aText }
const DOES: OptionChecks<By> = { by: BY }
const PROPOSE: OptionChecks<ProposeOptions> = {
  ...WHOSE,
  ...DOES,
  run: aText,
  input: anything,
  erasable: trueOrFalse,
  wasm: WASM,
}
const CHECK: OptionChecks<CheckPlanOptions> = { wasm: WASM }
const FORK: OptionChecks<ForkOptions> = { ...WHOSE, ...DOES, run: aText, at: wholeFrom(1) }
const ERASE: OptionChecks<EraseOptions> = { ...WHOSE, ...DOES, unreadable: trueOrFalse }
const COMPACT: OptionChecks<CompactOptions> = { ...WHOSE, ...DOES }
const APPROVE: OptionChecks<ApproveOptions> = { ...DOES, digest: DIGEST, comment: TEXT }
const REASON: OptionChecks<ReasonOptions> = { ...DOES, reason: TEXT }
const START: OptionChecks<StartOptions> = { ...DOES, signal: anAbortSignal }
const RESUME: OptionChecks<ResumePlanOptions> = {
  ...START,
  point: DIGEST,
  unseen: trueOrFalse,
  answers: listOf('what became of calls in doubt'),
  more: AMOUNTS_OBJECT,
}
const MORE: OptionChecks<NonNullable<ResumePlanOptions['more']>> = {
  fuel: AMOUNT,
  calls: AMOUNT,
  steps: AMOUNT,
  activeMs: AMOUNT,
  wallMs: AMOUNT,
  bytes: AMOUNT,
  units: [isAmounts, 'amounts by their units'],
  by: anObject, // by capabilities: checked as the event that it stands in
}
const EVENTS: OptionChecks<EventsOptions> = {
  from: wholeFrom(0),
  types: [
    (value) =>
      Array.isArray(value) &&
      value.every((one) => typeof one === 'string' && Object.hasOwn(RUN_EVENT_SHAPES, one)),
    'a list of types of events',
  ],
  nodes: [
    (value) => Array.isArray(value) && value.every((one) => typeof one === 'string'),
    'a list of paths of nodes',
  ],
  signal: anAbortSignal,
  until: oneOf('end', 'rest', 'now'),
}
const VERIFY: OptionChecks<VerifyOptions> = {
  ...WHOSE,
  signers: [
    (value) => Array.isArray(value) && value.every((key) => key instanceof Uint8Array && key.length === 32),
    'a list of public keys of 32 bytes',
  ],
  known: [
    (value) => Array.isArray(value) && value.every(isKnownPoint),
    'a list of points that were seen: { events, point }',
  ],
  receipts: [(value) => Array.isArray(value) && value.every(isSignedReceipt), 'a list of receipts'],
  concurrency: wholeFrom(1),
  thread: oneOf('host', 'worker'),
  signal: anAbortSignal,
}

/** `request` is asked for where it is known which requests are open. */
const DECISION: OptionChecks<Members<Decision>> = {
  request: anything,
  by: NAME,
  decision: oneOf('approve', 'reject', 'withdraw'),
  comment: TEXT,
  reason: TEXT,
  value: anything,
}
const ANSWER: OptionChecks<Members<DoubtAnswer>> = {
  node: NAME,
  by: NAME,
  call: wholeFrom(1),
  happened: trueOrFalse,
  skip: [(value) => value === true, 'true'],
  value: anything,
}

/** @throws CaissonError `invalid_argument` with `details: { option }`, as all of these */
export function checkWhose(options: PlanRunOptions): void {
  checkOptions(options, WHOSE)
}

/** @param proposed whose form is checked where it is read */
export function checkPropose(proposed: unknown, options: ProposeOptions): void {
  checkIsPlan(proposed)
  checkOptions(options, PROPOSE, ['by'])
}

export function checkPlanToCheck(proposed: unknown, options: CheckPlanOptions): void {
  checkIsPlan(proposed)
  checkOptions(options, CHECK)
}

function checkIsPlan(proposed: unknown): void {
  if (typeof proposed !== 'object' || proposed === null)
    throw new CaissonError('invalid_argument', 'A plan is an object: a Plan, or what definePlan gave.', {
      details: { option: 'plan' },
    })
}

export function checkBytes(bytes: unknown): void {
  if (bytes instanceof Uint8Array) return
  throw new CaissonError('invalid_argument', 'What is imported is a Uint8Array.', {
    details: { option: 'bytes' },
  })
}

export function checkErase(options: EraseOptions): void {
  checkOptions(options, ERASE, ['by'])
}

export function checkCompact(options: CompactOptions): void {
  checkOptions(options, COMPACT, ['by'])
}

export function checkFork(options: ForkOptions): void {
  checkOptions(options, FORK, ['by', 'at'])
}

export function checkApprove(options: ApproveOptions): void {
  checkOptions(options, APPROVE, ['by', 'digest'])
}

export function checkReason(options: ReasonOptions): void {
  checkOptions(options, REASON, ['by', 'reason'])
}

export function checkStart(options: StartOptions): void {
  checkOptions(options, START, ['by'])
}

export function checkResume(options: ResumePlanOptions): void {
  checkOptions(options, RESUME, ['by'])
  if (options.answers !== undefined) checkAnswers(options.answers)
  if (options.more !== undefined) checkOptions(options.more, MORE, [], 'more')
}

export function checkDecisions(decisions: readonly Decision[]): void {
  for (const [i, decision] of decisions.entries()) {
    const isRejection = (decision as Members<Decision> | null | undefined)?.decision === 'reject'
    const required = ['by', 'decision', ...(isRejection ? (['reason'] as const) : [])] as const
    checkOptions<Members<Decision>>(decision, DECISION, required, `decisions[${i}]`)
  }
}

export function checkAnswers(answers: readonly DoubtAnswer[]): void {
  for (const [i, answer] of answers.entries()) {
    const skips = (answer as Members<DoubtAnswer> | null | undefined)?.skip !== undefined
    const required = ['node', 'by', skips ? 'skip' : 'happened'] as const
    checkOptions<Members<DoubtAnswer>>(answer, ANSWER, required, `answers[${i}]`)
  }
}

export function checkSend(event: unknown, options: By): void {
  checkOptions({ event }, { event: NAME }, ['event'])
  checkOptions(options, DOES, ['by'])
}

export function checkEvents(options: EventsOptions): void {
  checkOptions(options, EVENTS)
}

export function checkVerify(options: VerifyOptions): void {
  checkOptions(options, VERIFY)
}

function isAmount(value: unknown): boolean {
  return typeof value === 'number' && value >= 0 && Number.isFinite(value)
}

function isAmounts(value: unknown): boolean {
  return isAmountsObject(value) && Object.values(value as object).every(isAmount)
}

/** A promise of one, or a list, has no parts that could be refused by name. */
function isAmountsObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !('then' in value)
}

function isKnownPoint(value: unknown): boolean {
  const { events, point } = (value ?? {}) as Partial<KnownPoint>
  return Number.isSafeInteger(events) && (events as number) >= 1 && isDigest(point)
}

function isSignedReceipt(value: unknown): boolean {
  const { receipt, digest, signedBy = '', signature = '' } = (value ?? {}) as Partial<SignedReceipt>
  const position: unknown = receipt?.journal?.position
  if (!Number.isSafeInteger(position) || !isDigest(digest)) return false
  if (typeof signedBy !== 'string' || typeof signature !== 'string') return false
  try {
    return encodeReceipt(receipt as SignedReceipt['receipt']).length > 0
  } catch {
    return false
  }
}
