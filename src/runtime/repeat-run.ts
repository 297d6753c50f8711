/**
 * Takes a kept run again, as its record has it: with the recorded answers at their times, to where the record ends.
 *
 * Invariant: nothing is invoked and nothing is written, so that no lease is needed.
 */

import type { Limits } from '../machine/limits.ts'
import { Session } from '../machine/session.ts'
import type { RunRecord } from '../snapshot/run-log/run-record.ts'
import { SyncReplay } from '../snapshot/run-log/sync-replay.ts'
import { finalDigest } from './final-digest.ts'
import { ASK_NOBODY } from './kept-approvals.ts'
import { atWork, limitsOfKept, takeUp } from './kept-machine.ts'
import type { KeptOutcome } from './kept-outcome.ts'
import { capabilitiesOf, checkEngine, type KeptRun, readKeptRun, startOfKept } from './kept-run.ts'
import type { RepeatOptions } from './options.ts'
import { beforeBrokenTurn, endAsRecorded, repeatTurns } from './repeat-turns.ts'
import type { RunKeeperParts } from './run-keeper.ts'
import type { RunOwner } from './run-owner.ts'

type RepeatRunParts = Omit<RunKeeperParts, 'startOf' | 'signal' | 'options'>

/** Needs no lease and changes nothing. @throws CaissonError `not_found`, and what `Runtime.repeat` says */
export async function repeatRun(
  parts: RepeatRunParts,
  owner: RunOwner,
  options: RepeatOptions,
): Promise<KeptOutcome> {
  const kept = await readKeptRun(parts, owner, options.reexecute)
  checkEngine(kept.record, parts.machines.engine.id)
  const whole = await repeatRecord(parts, kept, options)
  if (!('before' in whole)) return whole
  // The first turn of all is not taken where the record breaks off in it.
  const begins = kept.record.turns.length > 0
  const rest = await repeatRecord(parts, { ...kept, record: whole.before }, options, begins)
  return rest as KeptOutcome
}

/** @returns its record before a turn that it breaks off in, which was taken for nothing then */
async function repeatRecord(
  parts: RepeatRunParts,
  kept: KeptRun,
  options: RepeatOptions,
  begins: boolean = true,
): Promise<KeptOutcome | { readonly before: RunRecord }> {
  const { read, record, captured } = kept
  const had = record.limits ?? captured.limits
  const limits = limitsOfKept(parts, had, options)
  const gate = parts.gateFor(options, captured.guestId, ASK_NOBODY)
  const replay = new SyncReplay(record.syncCalls, capabilitiesOf(record, gate), undefined)
  return atWork(parts, options, limits, replay, async (machine) => {
    await takeUp(parts, machine, kept, gate, limits)
    const start = startOfKept(record, gate, limits)
    const session = new Session({
      machine,
      start,
      gate,
      clock: parts.platform.clock,
      signal: options.signal,
      restored: read?.state.session,
    })
    const step = begins
      ? await session.attend(() => repeatTurns(session, machine, record, replay))
      : session.goOn()
    const before = beforeBrokenTurn(record, replay)
    if (before !== undefined) {
      session.diverge('its record breaks off in its last turn')
      return { before }
    }
    return {
      outcome: session.outcome(endAsRecorded(session, step, machine, record, !sameLimits(limits, had))),
      start,
      checkpoint: read?.chain[0],
      stateDigest: await finalDigest(machine, options),
      resumable: record.end === undefined || record.end.end.status === 'exhausted',
    }
  })
}

function sameLimits(a: Limits, b: Limits): boolean {
  const names = Object.keys(a) as (keyof Limits)[]
  return names.every((name) => a[name] === b[name])
}
