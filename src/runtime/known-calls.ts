/**
 * What is known of the calls that a kept guest waits for when it goes on: by the record of its run, and by what
 * somebody decided about them.
 *
 * Invariants
 * 1. All answers by hand are looked at before the first one is taken: a wrong one changes nothing of the run.
 * 2. A call is made again without asking only if it may be repeated now, and could when it was let in.
 * 3. A call has one answer: one that has its answer on record, or is answered twice, is refused.
 * 4. All decisions are looked at before the first call is made: one over something else than what is asked now changes
 *    nothing of the run.
 */
import type { Digest } from '../base/digest.ts'
import { CaissonError } from '../base/errors.ts'
import type { AskedRequest } from '../capability/approvals.ts'
import { Refusal } from '../capability/call.ts'
import { type Delivery, refusedDelivery } from '../capability/delivery.ts'
import type { Gate } from '../capability/gate.ts'
import type { PersonDecision } from '../capability/person-request.ts'
import type { Stop } from '../capability/stop.ts'
import type { KnownCalls } from '../machine/driver.ts'
import type { PendingCall } from '../machine/turn.ts'
import type { IntentEntry } from '../snapshot/run-log/run-entry.ts'
import type { RunRecord } from '../snapshot/run-log/run-record.ts'
import { callDigest } from './call-digest.ts'
import type { HandAnswer, ResumeOptions } from './options.ts'
import { deliveryOf } from './repeat-turns.ts'

/**
 * @param pending what the guest waits for
 * @throws CaissonError `unknown_call`; `invalid_result`, `result_too_large`, `value_refused`, `value_too_deep` for an
 *   answer that the capability could not have given
 */
export async function knownCalls(
  record: RunRecord,
  pending: readonly PendingCall[],
  gate: Gate,
  stop: Stop,
  { answers = [], confirm = [], decisions = [] }: Pick<ResumeOptions, 'answers' | 'confirm' | 'decisions'>,
): Promise<KnownCalls> {
  const known: KnownCalls = {
    answers: record.undelivered.map(deliveryOf),
    recorded: new Map(record.open.map((intent) => [intent.id, intent])),
    inDoubt: new Set(record.open.filter((intent) => !mayRepeat(intent, gate)).map(({ id }) => id)),
  }
  return decidedCalls(known, pending, gate, stop, { answers, confirm }, () =>
    checkDecisions(decisions, record, pending, gate, stop),
  )
}

/**
 * What is known by now, of what was known and what somebody decided.
 * @param check what else has to be right before the first answer is taken
 * @throws CaissonError as `knownCalls`
 */
export async function decidedCalls(
  known: KnownCalls,
  pending: readonly PendingCall[],
  gate: Gate,
  stop: Stop,
  { answers = [], confirm = [] }: Pick<ResumeOptions, 'answers' | 'confirm'>,
  check: () => Promise<void> = () => Promise.resolve(),
): Promise<KnownCalls> {
  const confirmed = confirm.map((one) => confirmedId(one, pending))
  const answered = await checkedAnswers(answers, known, pending, gate, stop)
  await check()
  const deliveries = [...known.answers]
  for (const [call, answer] of answered) {
    deliveries.push(await answerByHand(answer, call, known.recorded, gate, stop))
  }
  const decided = new Set([...confirmed, ...[...answered.keys()].map(({ id }) => id)])
  const inDoubt = [...known.inDoubt].filter((id) => !decided.has(id))
  return { answers: deliveries, recorded: known.recorded, inDoubt: new Set(inDoubt) }
}

/** What is repeatable now, and was when it was let in: what an earlier implementation did with the key, nobody knows. */
function mayRepeat({ capability, effect, repeatable = effect === 'read' }: IntentEntry, gate: Gate): boolean {
  return repeatable && gate.isRepeatable(capability)
}

async function checkedAnswers(
  answers: readonly HandAnswer[],
  { answers: deliveries }: KnownCalls,
  pending: readonly PendingCall[],
  gate: Gate,
  stop: Stop,
): Promise<ReadonlyMap<PendingCall, HandAnswer>> {
  const known = new Set(deliveries.map(({ answer }) => answer.id))
  const checked = new Map<PendingCall, HandAnswer>()
  for (const answer of answers) {
    const { id } = answer
    const call = pending.find((one) => one.id === id)
    if (call === undefined) throw unknownCall(`No call with id ${id} is pending.`, { id })
    if (known.has(id)) throw unknownCall(`Call ${id} has its answer on record.`, { id })
    if (checked.has(call)) throw unknownCall(`Call ${id} is answered twice.`, { id })
    checked.set(call, answer)
    if (!('value' in answer)) continue
    const mistake = await gate.checkAnswer(call, answer.value, stop)
    if (mistake !== undefined) throw mistake
  }
  return checked
}

/** Invariant 4. */
async function checkDecisions(
  decisions: readonly PersonDecision[],
  record: RunRecord,
  pending: readonly PendingCall[],
  gate: Gate,
  stop: Stop,
): Promise<void> {
  if (decisions.length === 0) return
  const answered = new Set(record.undelivered.map(({ id }) => id))
  const asked = new Map<string, { readonly call: PendingCall; readonly asked: AskedRequest }>()
  for (const call of pending) {
    const found = answered.has(call.id) ? undefined : await gate.asks(call, stop)
    if (found !== undefined) asked.set(found.digest, { call, asked: found })
  }
  for (const decision of decisions) {
    const { request } = decision
    const found = asked.get(request)
    asked.delete(request)
    if (found === undefined) {
      throw new CaissonError(
        'approval_mismatch',
        'No call waits for a decision over exactly this: it was decided already, or call, rule or tool are others now.',
        { details: { request } },
      )
    }
    const { expiresAtMs } = found.asked
    if (expiresAtMs !== undefined && gate.nowMs() > expiresAtMs) {
      throw new CaissonError('approval_expired', 'The time in which the request could be decided is over.', {
        details: { request, expiresAtMs },
      })
    }
    if (decision.decision !== 'approve' || !('value' in decision)) continue
    const mistake = await gate.checkEdit(found.call, decision, stop)
    if (mistake !== undefined) throw mistake
  }
}

async function answerByHand(
  answer: HandAnswer,
  call: PendingCall,
  recorded: KnownCalls['recorded'],
  gate: Gate,
  stop: Stop,
): Promise<Delivery> {
  const admission = await (recorded.has(call.id) ? gate.readmit(call, stop) : gate.admit(call, stop))
  if (admission instanceof Refusal) return refusedDelivery(call.id, admission)
  const ended =
    'value' in answer
      ? ({ end: 'value', value: answer.value } as const)
      : ({ end: 'error', error: answer.error } as const)
  return gate.conclude(admission, ended, stop)
}

function confirmedId(one: number | Digest, pending: readonly PendingCall[]): number {
  const call = pending.find((candidate) =>
    typeof one === 'number' ? candidate.id === one : callDigest(candidate) === one,
  )
  if (call !== undefined) return call.id
  throw typeof one === 'number'
    ? unknownCall(`No call with id ${one} is pending.`, { id: one })
    : unknownCall(`No call with digest ${one} is pending.`, { digest: one })
}

function unknownCall(
  message: string,
  details: { readonly id: number } | { readonly digest: Digest },
): CaissonError {
  return new CaissonError('unknown_call', message, { details })
}
