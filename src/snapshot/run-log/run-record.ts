/**
 * What a log says of a run: a fold over its entries, from its start or from the mark of a checkpoint on.
 *
 * Invariants
 * 1. The fold is pure: the same entries give the same record.
 * 2. An entry that cannot stand where it stands is refused: nothing is guessed.
 */

import { CaissonError } from '../../base/errors.ts'
import type { LedgerState } from '../../capability/budget.ts'
import type { Answer } from '../../capability/call.ts'
import type { Limits } from '../../machine/limits.ts'
import type { TimeSpent } from '../../machine/time-keeper.ts'
import type { SyncCallRecord } from '../../ports/call-log.ts'
import type { BudgetEntry, EndEntry, IntentEntry, MarkEntry, RunEntry, StartEntry } from './run-entry.ts'

/** Answers that were delivered in one turn, at one logical time. Without any it was taken for a timer. */
export interface RecordedTurn {
  readonly nowMs: number
  readonly answers: readonly Answer[]
}

export interface RunRecord {
  /** The entry that it begins with. */
  readonly from: StartEntry | MarkEntry
  readonly turns: readonly RecordedTurn[]
  /** In the order in which the guest asked. */
  readonly syncCalls: readonly SyncCallRecord[]
  /** Every call that was let in, by its id. */
  readonly intents: ReadonlyMap<number, IntentEntry>
  /** Answers that were recorded and not delivered, in order of arrival. */
  readonly undelivered: readonly Answer[]
  /** Calls that were let in and have no recorded answer. */
  readonly open: readonly IntentEntry[]
  readonly ledger: LedgerState | undefined
  /** Time that the run had used up when its last entry that tells was written. */
  readonly spent: TimeSpent | undefined
  /** When the ledger was written, milliseconds since the epoch. */
  readonly ledgerAtMs: number
  /** What it went on under last; undefined where it never did. */
  readonly limits: Limits | undefined
  readonly end: EndEntry | undefined
}

/** @throws CaissonError `corrupted` */
export function foldRun(entries: readonly RunEntry[]): RunRecord {
  const [from] = entries
  if (from?.type !== 'start' && from?.type !== 'mark')
    throw damaged('it begins with neither a start nor a mark')
  const intents = new Map<number, IntentEntry>()
  const answers = new Map<number, Answer>()
  const turns: RecordedTurn[] = []
  const syncCalls: SyncCallRecord[] = []
  let budget: BudgetEntry | undefined
  let spent: TimeSpent | undefined
  let end: EndEntry | undefined
  let limits: Limits | undefined
  if (from.type === 'mark') {
    budget = from.budget
    spent = budget.spent
    for (const intent of from.open) intents.set(intent.id, intent)
    for (const answer of from.known) answers.set(answer.id, answer)
  }
  const answered = new Set<number>()
  for (const entry of entries.slice(1)) {
    // What the last turn used up is written with its end.
    if (end !== undefined && entry.type !== 'budget') {
      if (end.end.status !== 'exhausted') throw damaged('it goes on after its end')
      end = undefined
    }
    switch (entry.type) {
      case 'open':
        limits = entry.limits
        break
      case 'intent':
        if (intents.has(entry.id)) throw damaged(`call ${entry.id} is let in twice`)
        intents.set(entry.id, entry)
        break
      case 'result':
        if (!intents.has(entry.answer.id) || answered.has(entry.answer.id)) {
          throw damaged(`call ${entry.answer.id} is answered, and was not let in or had its answer`)
        }
        answered.add(entry.answer.id)
        answers.set(entry.answer.id, entry.answer)
        break
      case 'turn':
        turns.push({
          nowMs: entry.nowMs,
          answers: entry.answers.map((one) => {
            if (typeof one !== 'number') return one
            const answer = answers.get(one)
            if (answer === undefined) throw damaged(`call ${one} is delivered without an answer`)
            answers.delete(one)
            return answer
          }),
        })
        break
      case 'sync':
        syncCalls.push(...entry.records)
        break
      case 'budget':
        budget = entry
        spent = entry.spent ?? spent
        break
      case 'end':
        end = entry
        spent = entry.usage
        break
      case 'mark':
        break // of a checkpoint that was never acknowledged, or is older than the one that is gone on from
      default:
        throw damaged(`an entry of type "${String(entry.type).slice(0, 20)}" does not belong here`)
    }
  }
  const known = new Set(answers.keys())
  const delivered = new Set(turns.flatMap((turn) => turn.answers.map(({ id }) => id)))
  return {
    from,
    turns,
    syncCalls,
    intents,
    undelivered: [...answers.values()],
    open: [...intents.values()].filter(({ id }) => !known.has(id) && !delivered.has(id)),
    ledger: budget?.ledger,
    spent,
    ledgerAtMs: budget?.atMs ?? 0,
    limits,
    end,
  }
}

function damaged(what: string): CaissonError {
  return new CaissonError('corrupted', `The log of the run contradicts itself: ${what}.`)
}
