/**
 * What there is of a run to be looked at: its journal with what stands for each entry, checked as far as it goes.
 *
 * Invariant: what cannot be read any more is a difference with its place, and no reason to give up.
 */

import { toHex } from '../../../base/bytes.ts'
import type { Digest } from '../../../base/digest.ts'
import { CaissonError } from '../../../base/errors.ts'
import { parseRunEvent } from '../../../graph/run/parse-run-event.ts'
import type { RecordedEvent } from '../../../graph/run/run-event.ts'
import { JournalReader } from '../../../journal/journal.ts'
import type { TrustedSigners } from '../../../snapshot/run-log/entry-seal.ts'
import type { RunOwner } from '../../run-owner.ts'
import type { WatchedStore } from '../../watched-store.ts'
import { noRun, pointOf } from '../plan-record.ts'
import type { PlanRunParts } from '../plan-run-parts.ts'
import { readCut } from '../run-cut.ts'
import type { Difference } from './difference.ts'

/** Where somebody saw the run stand: `events` and `point` of a view, or `journal` of a receipt. */
export interface KnownPoint {
  readonly events: number
  readonly point: Digest
}

export interface Evidence {
  readonly events: readonly RecordedEvent[]
  /** Of each entry: it stands for all up to it. */
  readonly digests: readonly Digest[]
  /** The last entry that is signed, and who has signed entries. */
  readonly signed: { readonly events: number; readonly by: readonly string[] } | undefined
  /** Why it ends where it does, if not because it is over. */
  readonly damage: Difference | undefined
}

/** @throws CaissonError `not_found`, `invalid_transition` where the journal was cut, and what the store throws of itself */
export async function readEvidence(
  { store, sealing }: Pick<PlanRunParts, 'store' | 'sealing'>,
  owner: RunOwner,
  trusted: TrustedSigners | undefined,
): Promise<Evidence> {
  const { run, tenant } = owner
  const events: RecordedEvent[] = []
  const digests: Digest[] = []
  const signers = new Set<string>()
  let signedEvents = 0
  const options = {
    store: upToDamage(store),
    run,
    tenant,
    sealing: { ...sealing, ...(trusted && { trusted }) },
  }
  const reader = new JournalReader(options, 0)
  let damage: Difference | undefined
  try {
    for (let read = -1; read !== 0; ) {
      const page = await reader.next(({ at, record, digest, signedBy }) => {
        events.push(parseRunEvent(record, at))
        digests.push(digest)
        if (signedBy === undefined) return
        signers.add(toHex(signedBy))
        signedEvents = at + 1
      })
      read = page.length
    }
  } catch (error) {
    damage = damageOf(error, events.length)
  }
  if (events.length === 0 && damage === undefined) {
    // It is there, and what is asked of its journal cannot be had any more.
    const wasCut = (await readCut({ store, sealing }, owner)) !== undefined
    throw wasCut ? journalIsGone(run) : noRun(run)
  }
  const signed = signedEvents === 0 ? undefined : { events: signedEvents, by: [...signers] }
  return { events, digests, signed, damage: damage ?? unsignedEnd(events.length, signedEvents, trusted) }
}

function journalIsGone(run: string): CaissonError {
  return new CaissonError(
    'invalid_transition',
    `The journal of run "${run}" was cut: only what it came to is left.`,
    {
      details: { run },
    },
  )
}

/** A store that finds damage at an entry is asked for those before it: what is wrong has a place then. */
function upToDamage(store: WatchedStore): WatchedStore {
  return {
    ...store,
    entries: async (run, from, most) => {
      try {
        return await store.entries(run, from, most)
      } catch (error) {
        const at = CaissonError.is(error, 'corrupted') ? error.details.entry : undefined
        if (!Number.isSafeInteger(at) || (at as number) <= from) throw error
        return store.entries(run, from, Math.min(most, (at as number) - from))
      }
    },
  }
}

function damageOf(error: unknown, position: number): Difference {
  if (!CaissonError.is(error) || !OF_THE_RECORD.has(error.code)) throw error
  const of = error.details.differs === 'signature' ? 'signature' : 'journal'
  return { of, position, message: error.message }
}

/** What of an error is about what was read, and not about who reads it. */
const OF_THE_RECORD: ReadonlySet<string> = new Set([
  'corrupted',
  'checkpoint_refused',
  'value_refused',
  'value_too_large',
  'value_too_deep',
])

/** Where signers are trusted, everything is signed: what is added behind the last signature is by nobody. */
function unsignedEnd(
  events: number,
  signedEvents: number,
  trusted: TrustedSigners | undefined,
): Difference | undefined {
  if (trusted === undefined || signedEvents === events) return undefined
  const message = `Entry ${signedEvents} of the journal, and what follows it, is signed by nobody who is trusted.`
  return { of: 'signature', position: signedEvents, message }
}

/** The first point that the journal does not lead through. */
export function missingPoint(
  owner: RunOwner,
  { digests }: Pick<Evidence, 'digests'>,
  points: readonly KnownPoint[],
): Difference | undefined {
  for (const { events, point } of [...points].sort((a, b) => a.events - b.events)) {
    const digest = digests[events - 1]
    if (digest === undefined) {
      const message = `The journal has ${digests.length} entries, and had ${events}: it was cut off.`
      return {
        of: 'point',
        position: digests.length,
        recorded: `${events} entries`,
        found: `${digests.length} entries`,
        message,
      }
    }
    if (pointOf(owner, { length: events, digest }) === point) continue
    const message = `Up to entry ${events - 1} the journal is another one than was seen before.`
    return { of: 'point', position: events - 1, recorded: point, message }
  }
  return undefined
}
