import { describe, expect, it } from 'vitest'
import type { Digest } from '../../base/digest.ts'
import type { RecordedEvent } from '../../graph/run/run-event.ts'
import { doubtJson, eventJson, requestJson } from './event-json.ts'

const DIGEST = `sha256:${'1'.repeat(64)}` as Digest

describe('an event for machines', () => {
  it('is plain JSON, also where one object stands in it twice', () => {
    const units = { cents: 5 }
    const used = { calls: 1, units, by: { 'shop.price': { calls: 1, units } } }
    const event: RecordedEvent = {
      node: 'a',
      type: 'node_completed',
      output: { value: 1 },
      used,
      timeMs: 1,
    }
    expect(JSON.parse(eventJson({ position: 4, event }))).toEqual({ position: 4, ...event })
  })

  it('has values of guests in the tagged form, each for itself', () => {
    const shared = { a: 1 }
    const output = { value: [new Date(0), shared, shared, { $caisson: 'date' }] }
    const event: RecordedEvent = { type: 'completed', output, timeMs: 1 }
    const { output: told } = JSON.parse(eventJson({ position: 0, event })) as { output: unknown }
    expect(told).toMatchObject({
      value: [{ $caisson: 'date' }, { $caisson: 'shared' }, { $caisson: 'ref' }, {}],
    })
  })
})

describe('a request, and a call in doubt, for machines', () => {
  it('have only arguments and values of people in the tagged form', () => {
    const rule = { capability: 'a.b' }
    const request = {
      id: 'i',
      kind: 'call',
      run: 'r',
      node: 'a',
      args: new Date(0),
      policy: [rule, rule],
      digest: DIGEST,
      decided: { by: 'ann', approved: true, atMs: 1, comment: 'fine', value: 5n },
    } as const
    expect(requestJson(request)).toMatchObject({
      policy: [rule, rule],
      args: { $caisson: 'date' },
      decided: { by: 'ann', comment: 'fine', value: { $caisson: 'bigint' } },
    })
    const doubt = { node: 'a', call: 1, capability: 'a.b', args: [5n], settled: false }
    expect(doubtJson(doubt)).toMatchObject({ node: 'a', args: [{ $caisson: 'bigint' }] })
  })
})
