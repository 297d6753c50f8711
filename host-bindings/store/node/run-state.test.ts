import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Digest } from '../../../src/base/digest.ts'
import { decodeRunState, encodeRunState, NEW_RUN, type RunState } from './run-state.node.ts'

const hex = (digits: number): fc.Arbitrary<string> =>
  fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: digits, maxLength: digits })
const digest = hex(64).map((digits) => `sha256:${digits}` as Digest)
const count = fc.nat({ max: 2 ** 40 })
const lease = fc.record({
  id: hex(32),
  machine: fc.string(),
  process: fc.string(),
  ttlMs: count,
  uptimeMs: count,
})
const head = fc.record({
  version: count,
  chain: fc.array(digest, { maxLength: 40 }),
  position: count,
  summary: fc.uint8Array({ maxLength: 16 * 1024 }),
})
const log = fc
  .array(fc.record({ id: hex(32), entries: fc.nat(1_000), bytes: count }), { maxLength: 5 })
  .map((segments) => {
    let first = 0
    return segments.map((segment, index) => {
      const record = { ...segment, first, open: index === segments.length - 1 }
      first += segment.entries
      return record
    })
  })
const state: fc.Arbitrary<RunState> = fc.record({
  first: fc.boolean(),
  removed: fc.boolean(),
  token: count,
  lease: fc.option(lease, { nil: undefined }),
  head: fc.option(head, { nil: undefined }),
  log,
})

describe('the state of a run', () => {
  it('is read as it was written', () => {
    fc.assert(
      fc.property(state, (given) => {
        expect(decodeRunState(encodeRunState(given))).toEqual(given)
      }),
    )
  })

  it('is refused when any byte was changed, cut or added', () => {
    const bytes = encodeRunState({ ...NEW_RUN, token: 300, log: [] })
    const refused = expect.objectContaining({ code: 'corrupted' })
    for (let at = 0; at < bytes.length; at++) {
      const changed = bytes.slice()
      changed[at] = (bytes[at] as number) ^ (1 << (at % 8))
      expect(() => decodeRunState(changed)).toThrow(refused)
      expect(() => decodeRunState(bytes.slice(0, at))).toThrow(refused)
    }
    expect(() => decodeRunState(Uint8Array.from([...bytes, 0]))).toThrow(refused)
  })

  it('is refused when its log has a gap, although the checksum is right', () => {
    const segment = { id: '0'.repeat(32), first: 0, entries: 2, bytes: 100, open: false }
    for (const second of [
      { ...segment, first: 3 },
      { ...segment, first: 1 },
    ]) {
      const bytes = encodeRunState({ ...NEW_RUN, log: [segment, second] })
      expect(() => decodeRunState(bytes)).toThrow(expect.objectContaining({ code: 'corrupted' }))
    }
  })
})
