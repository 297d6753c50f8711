import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sha256 } from '../../base/digest.ts'
import { CaissonError } from '../../base/errors.ts'
import { decodeCanonical } from '../../values/decode-canonical.ts'
import { encodeCanonical } from '../../values/encode-canonical.ts'
import { arbitraryPlan } from './arbitrary-plan.testkit.ts'
import { parseRunEvent } from './parse-run-event.ts'
import type { RecordedEvent } from './run-event.ts'
import { RunState } from './run-state.ts'
import { type Fate, play } from './simulate.testkit.ts'

const LIMITS = { bytes: 1_000_000, nodes: 100_000, depth: 100 }
const DIGEST = sha256(new Uint8Array())
const failure = { class: 'timeout', code: 'timeout', message: 'late' }
const of = (type: string, members: object = {}): unknown => ({ type, timeMs: 5, ...members })

/** What each type has beside `type` and `timeMs`, in all its forms. */
const SAMPLES: readonly unknown[] = [
  of('proposed', { format: 'run/1', id: 'i', plan: DIGEST, input: { value: 1 }, tools: {}, by: 'ann' }),
  of('approved', { request: DIGEST, by: 'ann', comment: 'so be it' }),
  of('confirmed', { point: DIGEST, by: 'ann', more: { calls: 2, wallMs: 3, units: { eur: 0.5 } } }),
  of('failing', { error: failure, node: 'a/0/b' }),
  of('compensated', { left: ['a'] }),
  of('completed', { output: { digest: DIGEST, bytes: 2_000 } }),
  of('node_called', { node: 'a', call: 1, key: 'k', repeatable: false }),
  of('node_answered', { node: 'a', call: 1, answer: { ok: true, value: { value: new Map([[1, 2]]) } } }),
  of('node_answered', { node: 'a', call: 1, answer: { ok: false, error: failure }, used: { fuel: 1.5 } }),
  of('node_waiting', {
    node: 'a',
    waiting: { for: 'person', asked: [{ request: DIGEST, shown: { value: 1 } }] },
  }),
  of('node_waiting', { node: 'a', waiting: { for: 'event', name: 'paid' } }),
  of('node_recovered', { node: 'a', error: failure, fallback: 0, output: { value: null } }),
]

const problemOf = (record: unknown): string => {
  try {
    parseRunEvent(record, 7)
  } catch (error) {
    return (error as Error).message
  }
  return 'none'
}

describe('an event that was read', () => {
  it('is what it was, for everything that runs write down', () => {
    const fates = fc.array(fc.nat(), { minLength: 1, maxLength: 200 })
    fc.assert(
      fc.property(arbitraryPlan(), fates, (plan, draws) => {
        const events = written(play(plan, drawn(draws)).events)
        const again = new RunState(plan)
        for (const [at, record] of events.entries()) {
          const event = parseRunEvent(record, at)
          expect(event).toBe(record)
          again.apply(event)
        }
        expect(again.events).toBe(events.length)
      }),
      { numRuns: 100 },
    )
  })

  it.each(SAMPLES.map((sample) => [(sample as { type: string }).type, sample]))(
    '%s is taken',
    (_, sample) => {
      expect(parseRunEvent(sample, 0)).toEqual(sample)
    },
  )

  it('invariant 1: is refused with its number and what is wrong where, whatever was changed in it', () => {
    fc.assert(
      fc.property(fc.constantFrom(...SAMPLES), fc.nat(), fc.anything(), (sample, which, value) => {
        const record = structuredClone(sample) as Record<string, unknown>
        const places = placesOf(record)
        const { holder, key } = places[which % places.length] as Place
        holder[key] = value
        try {
          parseRunEvent(record, 3)
        } catch (error) {
          expect(CaissonError.is(error)).toBe(true)
          expect(['corrupted', 'unsupported']).toContain((error as CaissonError).code)
          expect((error as CaissonError).details).toMatchObject({ at: 3 })
        }
      }),
      { numRuns: 500 },
    )
  })

  it('says what is wrong, and where', () => {
    expect(problemOf(null)).toBe('Entry 7 of the journal is damaged: it is no object.')
    expect(problemOf(of('toString'))).toContain('type: no event is called "toString"')
    expect(problemOf({ type: 4 })).toContain('type: no event is called a number')
    expect(problemOf(of('undoing', { more: 1 }))).toContain(
      '("undoing") is damaged: more: is not known here.',
    )
    expect(problemOf(of('node_called', { node: 'a', call: 0, key: 'k', repeatable: true }))).toContain(
      'call: must be a whole number from 1',
    )
    expect(problemOf(of('completed', { output: { digest: 'sha256:0', bytes: 1 } }))).toContain(
      'output/digest: must be a digest',
    )
    expect(
      problemOf(of('node_answered', { node: 'a', call: 1, answer: { ok: true, error: failure } })),
    ).toContain('answer/error: is not known here')
    expect(problemOf({ type: 'cancelled' })).toContain('"timeMs" is missing')
    expect(problemOf(of('cancelled', { timeMs: Number.NaN }))).toContain('timeMs: must be a number')
  })

  it('invariant 3: of a newer format is refused as such', () => {
    const proposed = { ...(SAMPLES[0] as object), format: 'run/3', somethingNew: true }
    expect(() => parseRunEvent(proposed, 0)).toThrow(
      expect.objectContaining({ code: 'unsupported', details: { at: 0, format: 'run/3', known: 'run/2' } }),
    )
    expect(problemOf({ ...proposed, format: 'run/one' })).toContain(
      'format: "run/one" is no format of a journal',
    )
  })
})

/** As a store gives them back. */
function written(events: readonly object[]): readonly RecordedEvent[] {
  return events.map((event, i) => {
    const bytes = encodeCanonical({ timeMs: i, ...event }, LIMITS)
    return decodeCanonical(bytes, LIMITS) as RecordedEvent
  })
}

function drawn(draws: readonly number[]): Fate {
  let at = 0
  return {
    atOnce: 3,
    failing: 5,
    draw(below) {
      at += 1
      return ((draws[at % draws.length] ?? 0) + at) % below
    },
  }
}

interface Place {
  readonly holder: Record<string, unknown>
  readonly key: string
}

/** Every place of a record where something stands, and one where nothing does. */
function placesOf(holder: Record<string, unknown>): Place[] {
  const keys = [...Object.keys(holder), 'more']
  return keys.flatMap((key) => {
    const value = holder[key]
    const inner = typeof value === 'object' && value !== null && !(value instanceof Map)
    return [{ holder, key }, ...(inner ? placesOf(value as Record<string, unknown>) : [])]
  })
}
