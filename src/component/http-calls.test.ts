import { describe, expect, it } from 'vitest'
import { DEFAULT_LIMITS } from '../machine/limits.ts'
import { CapabilityCalls } from './capability-calls.ts'
import type { GuestControl } from './guest-control.ts'
import { HttpCalls } from './http-calls.ts'

const REQUEST = { method: 'GET', url: 'https://example.com/', headers: [], body: new Uint8Array(0) }

function open(): { readonly http: HttpCalls; readonly calls: CapabilityCalls } {
  const gauge = { charge: () => {}, halt: () => {}, stopReason: undefined }
  const calls = new CapabilityCalls({
    capabilities: [{ name: 'net.fetch', sync: false }],
    schemas: () => ({}),
    syncCalls: { call: () => undefined },
    limits: DEFAULT_LIMITS,
    control: { gauge, end: () => {} } as unknown as GuestControl,
    nowMs: () => 0,
  })
  return { http: new HttpCalls(calls), calls }
}

describe('HttpCalls', () => {
  it('looks at an answer once, however often it is asked for (invariant 4)', () => {
    const { http, calls } = open()
    const id = http.send(REQUEST)
    expect(http.answer(id)).toBeUndefined()
    calls.deliver([{ id, ok: true, value: { status: 200, headers: { a: '1', b: 2 }, body: 'text' } }], '', '')
    const answer = http.answer(id)
    expect(answer).toMatchObject({
      ok: true,
      headers: [
        ['a', '1'],
        ['b', '2'],
      ],
    })
    expect(http.answer(id)).toBe(answer)
    http.drop(id)
    expect(http.answer(id)).toBeUndefined()
  })

  it.each([
    null,
    {},
    { status: 99, headers: {}, body: '' },
    { status: 200.5, headers: {}, body: '' },
    { status: 200, headers: {}, body: [1] },
    { status: 200, headers: { a: { toString: 1, valueOf: 2 } }, body: '' },
    { status: 200, headers: { a: [['deep']] }, body: '' },
  ])('takes %j for no answer', (value) => {
    const { http, calls } = open()
    const id = http.send(REQUEST)
    calls.deliver([{ id, ok: true, value }], '', '')
    expect(http.answer(id)).toEqual({ ok: false, reason: 'failed' })
  })

  it('joins fields of one name, which has no case', () => {
    const { http, calls } = open()
    const headers = [
      ['X-A', '1'],
      ['x-a', '2'],
      ['__proto__', '3'],
    ] as const
    http.send({ ...REQUEST, headers })
    expect(calls.takeAsked().map(({ args }) => Object.entries(Object(args).headers as object))).toEqual([
      [
        ['x-a', '1, 2'],
        ['__proto__', '3'],
      ],
    ])
  })
})
