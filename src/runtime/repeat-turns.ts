/**
 * Takes the turns of a run again that its record has, with the answers that it got then, at the times that it got
 * them. Nobody is asked anything.
 *
 * Invariants
 * 1. A guest that does something else than its record ends as `diverged`, before anything follows from it.
 */
import type { Answer } from '../capability/call.ts'
import type { Delivery } from '../capability/delivery.ts'
import type { RunEnd } from '../machine/outcome.ts'
import { diverged, type Session, type Step } from '../machine/session.ts'
import type { Machine } from '../machine/turn.ts'
import type { RunRecord } from '../snapshot/run-log/run-record.ts'
import type { SyncReplay } from '../snapshot/run-log/sync-replay.ts'
import { measureValue } from '../values/copy-value.ts'
import { isValueNotKept } from './value-not-kept.ts'

/** @returns where the guest is then. Its first step is the guest's first, where it starts anew. */
export async function repeatTurns(
  session: Session,
  machine: Machine,
  record: RunRecord,
  replay: SyncReplay,
): Promise<Step> {
  let step = record.from.type === 'start' ? await session.begin() : session.goOn()
  const asked = new Map(machine.pending.map((call) => [call.id, call]))
  for (const { nowMs, answers } of record.turns) {
    if (step.status === 'ended') return session.diverge('it ended earlier')
    const pending = new Set(machine.pending.map(({ id }) => id))
    const missing = answers.find(({ id }) => !pending.has(id))
    const { wakeAtMs } = machine
    if (answers.length === 0 && (wakeAtMs === undefined || wakeAtMs > nowMs)) {
      return session.diverge('no timer of it was due')
    }
    if (missing !== undefined) return session.diverge(`it did not ask for call ${missing.id}`)
    replay.turn += 1
    step = await session.repeat(nowMs, answers.map(deliveryOf))
    for (const call of machine.pending) asked.set(call.id, call)
  }
  if (replay.diverged) return session.diverge('it asked for another sync call')
  if (replay.unasked) return session.diverge('it asked for fewer sync calls')
  for (const { id, capability, askedAtMs } of record.intents.values()) {
    const call = asked.get(id)
    if (call !== undefined && call.capability === capability && call.askedAtMs === askedAtMs) continue
    return session.diverge(`call ${id} was of "${capability}"`)
  }
  return step.status === 'waiting' ? session.goOn() : step
}

/**
 * The record without a turn that it breaks off in: its process died there, and had not written down what was answered
 * inside of the turn. Nothing followed from it.
 * @returns undefined where the record says more
 */
export function beforeBrokenTurn(record: RunRecord, { ranOutIn }: SyncReplay): RunRecord | undefined {
  if (ranOutIn !== record.turns.length || record.end !== undefined) return undefined
  const answers = record.turns.at(-1)?.answers ?? []
  return { ...record, turns: record.turns.slice(0, -1), undelivered: [...answers, ...record.undelivered] }
}

/**
 * How a run ends of which all turns were taken again: as its record says, suspended where that has no end.
 * @param limited whether it has other limits than it had
 */
export function endAsRecorded(
  session: Session,
  step: Step,
  machine: Machine,
  record: RunRecord,
  limited: boolean,
): RunEnd {
  const recorded = record.end
  if (step.status === 'waiting') {
    const { wakeAtMs } = machine
    const end: RunEnd = recorded?.end ?? {
      status: 'suspended',
      pending: [...machine.pending],
      answered: record.undelivered,
      inDoubt: [],
      ...(wakeAtMs !== undefined && { wakeAtMs }),
    }
    session.finish(end)
    return end
  }
  // What time ended may come further, or not as far; what the guest came to is the same, to the last unit of fuel.
  const byTime = isByTime(recorded?.end) || isByTime(step.end)
  const byLimit = limited && step.end.status === 'exhausted'
  const brokenOff = step.end.status === 'failed' && !session.endedItself
  if (recorded === undefined || byTime || byLimit || brokenOff) return step.end
  const { fuel } = session.outcome(step.end).usage
  if (step.end.status === 'completed' && isValueNotKept(recorded.end) && recorded.usage.fuel === fuel) {
    return recorded.end
  }
  const same = recorded.end.status === step.end.status && recorded.usage.fuel === fuel
  return same ? step.end : diverged('it ended differently')
}

function isByTime(end: RunEnd | undefined): boolean {
  return end?.status === 'exhausted' && TIMES.has(end.limit)
}

/** Bytes count as they did: an answer was measured when it came. */
export function deliveryOf(answer: Answer): Delivery {
  const bytes = answer.ok ? measureValue(answer.value).bytes : answer.error.message.length
  return { answer, bytes, fatal: false }
}

const TIMES: ReadonlySet<string> = new Set(['wall', 'idle'])
