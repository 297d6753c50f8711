import { describe, expect, it } from 'vitest'
import { CaissonError } from '../../base/errors.ts'
import { DEFAULT_LIMITS } from '../../machine/limits.ts'
import { parseRunEntry } from './parse-entry.ts'
import type { RunEntry } from './run-entry.ts'

const intent = {
  type: 'intent',
  id: 1,
  capability: 'a.b',
  effect: 'write',
  idempotencyKey: 'g/1',
  args: undefined,
  askedAtMs: 5,
} as const
const account = { calls: 1, bytesOut: 0, bytesIn: 0, units: {}, rateAgesMs: [3] }
const budget = { type: 'budget', atMs: 5, ledger: { version: 1, accounts: { 'a.b': account } } } as const
const failure = { id: 2, ok: false, error: { code: 'denied', message: 'no' } } as const

const ENTRIES: readonly RunEntry[] = [
  {
    type: 'start',
    version: 1,
    engine: 'e',
    guestId: 'g',
    tenant: 't',
    principal: '',
    label: 'plain',
    source: '1',
    form: 'auto',
    fileName: 'program.js',
    input: undefined,
    capabilities: [{ name: 'a.b', sync: false }],
    limits: DEFAULT_LIMITS,
    seed: new Uint8Array(32),
    nowMs: 0,
  },
  { type: 'open', atMs: 5, limits: DEFAULT_LIMITS },
  intent,
  { type: 'result', answer: { id: 1, ok: true, value: 'v' } },
  { type: 'result', answer: failure },
  { type: 'sync', records: [{ capability: 'a.s', args: 1, ok: true, value: 2 }] },
  { type: 'turn', nowMs: 6, answers: [1, failure] },
  { type: 'turn', nowMs: 6, answers: [] },
  budget,
  { type: 'mark', budget, open: [intent], known: [failure] },
  {
    type: 'end',
    atMs: 7,
    end: { status: 'failed', error: { name: 'Error', message: 'x' } },
    usage: {
      fuel: 1,
      memoryBytes: 1,
      calls: 1,
      bytesIn: 1,
      bytesOut: 1,
      logsDropped: 0,
      wallMs: 1,
      idleMs: 0,
    },
    logs: [{ level: 'log', text: 'x', atMs: 1 }],
    unhandledRejections: [{ name: 'Error', message: 'y' }],
  },
]

/** Where any data may stand: what guests and capabilities said. */
const FREE = /^(input|args|value|effect|answer\.value|end\.value|details)$/

const pathsOf = (value: unknown, at: readonly string[] = []): readonly (readonly string[])[] =>
  typeof value !== 'object' || value === null || value instanceof Uint8Array
    ? [at]
    : [at, ...Object.entries(value).flatMap(([key, inner]) => pathsOf(inner, [...at, key]))]

const replaced = (value: unknown, [key, ...rest]: readonly string[], by: unknown): unknown => {
  if (key === undefined) return by
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<string, unknown>
  copy[key] = replaced(copy[key], rest, by)
  return copy
}

describe('an entry of a log', () => {
  it.each(ENTRIES)('of type $type is taken as it is', (entry) => {
    expect(parseRunEntry(entry)).toBe(entry)
  })

  it('of a build that did not know a limit has its default', () => {
    const { timers: _, ...before } = DEFAULT_LIMITS
    for (const entry of ENTRIES) {
      if ('limits' in entry) expect(parseRunEntry({ ...entry, limits: before })).toEqual(entry)
    }
    const { fuel: __, ...none } = DEFAULT_LIMITS
    expect(() => parseRunEntry({ type: 'open', atMs: 5, limits: none })).toThrow(CaissonError)
  })

  it('says what a program left pending at its end', () => {
    const end = ENTRIES.find(({ type }) => type === 'end')
    const left = (of: unknown): unknown => ({ ...end, end: { status: 'completed', value: 1, left: of } })
    const call = { id: 1, capability: 'a.b', args: 1, bytes: 1, askedAtMs: 1 }
    expect(parseRunEntry(left({ calls: [call], timers: 2 }))).toMatchObject({ end: { left: { timers: 2 } } })
    for (const wrong of [
      1,
      {},
      { calls: [1], timers: 0 },
      { calls: [{ id: 0 }], timers: 0 },
      { calls: [], timers: 'x' },
    ]) {
      expect(() => parseRunEntry(left(wrong))).toThrow(CaissonError)
    }
  })

  it('with anything else in the place of any field is refused, where it is not data', () => {
    let refused = 0
    for (const entry of ENTRIES) {
      for (const path of pathsOf(entry)) {
        const free = FREE.test(path.at(-1) ?? '')
        // Numbers are ids, amounts or times, texts are names or messages: each refuses what is neither.
        for (const wrong of [null, Number.NaN, Object.create({ toString: 1 }), new Array(3), () => 1]) {
          const told = replaced(entry, path, wrong)
          try {
            parseRunEntry(told)
            const ofLedger = path.includes('ledger') // which checks its amounts itself
            expect(free || ofLedger, `${entry.type} ${path.join('.')}`).toBe(true)
          } catch (error) {
            if (!CaissonError.is(error, 'corrupted')) throw error
            refused += 1
          }
        }
      }
    }
    expect(refused).toBeGreaterThan(400)
  })

  it('of no known type is refused, whatever objects inherit', () => {
    for (const type of ['constructor', '__proto__', 'toString', '', 1, null]) {
      expect(() => parseRunEntry({ type })).toThrow(CaissonError)
    }
  })
})
