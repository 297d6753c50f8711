/** Components that wait in the middle of a call, and what nobody can make of them meanwhile. */
import { beforeAll, describe, expect, it } from 'vitest'
import { BINARYEN_VERSION, loadBinaryenAsyncify } from '../../host-bindings/asyncify/binaryen-asyncify.ts'
import { nodePageTools } from '../../host-bindings/system/page-tools.node.ts'
import { readSample } from '../../scripts/samples/read-sample.ts'
import { DISPOSE } from '../base/disposal.ts'
import type { SyncCalls } from '../capability/call.ts'
import { type Limits, parseLimits } from '../machine/limits.ts'
import { CapabilityCalls } from './capability-calls.ts'
import {
  captureComponent,
  captureDigest,
  parseComponentState,
  restoreComponent,
} from './component-capture.ts'
import { type ComponentInstance, openComponentInstance } from './component-instance.ts'
import { prepareCore } from './core/prepare-core.ts'
import { LateControl } from './guest-control.ts'
import { type PreparedComponent, prepareComponent } from './prepare-component.ts'
import { waitOptions } from './wait-options.ts'

const FOREVER = { deadline: Number.POSITIVE_INFINITY }
const CAPABILITIES = [{ name: 'hostCall', sync: false }]
let prepared: PreparedComponent

beforeAll(async () => {
  const asyncify = await loadBinaryenAsyncify()
  const waits = waitOptions(['hostCall'], BINARYEN_VERSION, async (core, how) =>
    prepareCore(core, { ...how, asyncify }),
  )
  const options = { profile: 'v8', maxMemoryPages: 256, waits } as const
  prepared = await prepareComponent(await readSample('tool-as'), options, () => performance.now())
})

interface Opened {
  readonly instance: ComponentInstance
  readonly calls: CapabilityCalls
}

interface Opening {
  /** Answers at once. Left out, calls are answered later. */
  readonly sync?: (args: unknown) => unknown
  readonly limits?: Partial<Limits>
  readonly restores?: boolean
  readonly monotonic?: () => number
}

async function open({
  sync,
  limits: given = {},
  restores = false,
  monotonic = () => performance.now(),
}: Opening = {}): Promise<Opened> {
  const limits = parseLimits({ fuel: 50_000_000, ...given })
  const control = new LateControl()
  const syncCalls: SyncCalls = { call: (_index, args) => sync?.(args) }
  const calls = new CapabilityCalls({
    capabilities: sync === undefined ? CAPABILITIES : [{ name: 'hostCall', sync: true }],
    schemas: () => ({}),
    syncCalls,
    limits,
    control,
    nowMs: () => 0,
  })
  const instance = await openComponentInstance(prepared, {
    imports: calls,
    limits,
    monotonic,
    control,
    restores,
  })
  return { instance, calls }
}

const run = ({ instance }: Opened, text: string): ReturnType<ComponentInstance['enter']> =>
  instance.enter('run', instance.checkCall('run', [text]), FOREVER)

function answer({ instance, calls }: Opened, value: string): ReturnType<ComponentInstance['enter']> {
  const [pending] = calls.pending
  const made = calls.deliver([{ id: pending?.id ?? 0, ok: true, value }], '$root', 'host-call')
  return made === undefined ? { status: 'waiting' } : instance.resume(made, FOREVER)
}

function captureOf({ instance, calls }: Opened): ReturnType<typeof captureComponent> {
  const parts = { instance, calls, wasi: undefined, capabilities: CAPABILITIES, seed: new Uint8Array(32) }
  return captureComponent(parts, 'run')
}

describe('a component that waits', () => {
  it('goes on with the answer, here and in the place of another one, at the same cost', async () => {
    const whole = await open({ sync: () => 'said' })
    const expected = await whole.instance.call('run', ['a\nb'])
    const first = await open()
    expect(run(first, 'a\nb')).toEqual({ status: 'waiting' })
    const { memoryBytes, changes, state } = captureOf(first)
    const second = await open({ restores: true })
    restoreComponent(
      { ...second, wasi: undefined },
      { memoryBytes, changes },
      parseComponentState(structuredClone(state), CAPABILITIES),
    )
    for (const one of [first, second]) {
      expect(answer(one, 'said')).toEqual({ status: 'waiting' })
      expect(answer(one, 'said')).toMatchObject({
        status: 'completed',
        value: (expected as { value: unknown }).value,
      })
    }
    expect(second.instance.fuelUsed).toBe(first.instance.fuelUsed)
    expect(digestOf(second)).toBe(digestOf(first))
  })

  it('takes no other call, and no destructor, until it is answered', async () => {
    const opened = await open()
    const { instance } = opened
    void run(opened, 'a')
    expect(instance.state).toBe('busy')
    expect(() => instance.checkCall('totals', [])).toThrow(expect.objectContaining({ code: 'busy' }))
    expect(() => instance.enter('totals', [], FOREVER)).toThrow(expect.objectContaining({ code: 'busy' }))
    expect(() => instance.callNow('totals')).toThrow(expect.objectContaining({ code: 'busy' }))
    await expect(instance.call('totals')).rejects.toMatchObject({ code: 'busy' })
    expect(answer(opened, 'said')).toMatchObject({ status: 'completed' })
    expect(await instance.call('totals')).toMatchObject({ status: 'completed', value: [1, 4] })
  })

  it('is answered once, and by nobody else', async () => {
    const opened = await open()
    const { calls, instance } = opened
    expect(() => instance.resume(() => undefined, FOREVER)).toThrow(
      expect.objectContaining({ code: 'invalid_argument' }),
    )
    void run(opened, 'a')
    const [id = 0] = calls.pending.map((one) => one.id)
    for (const answers of [
      [{ id: id + 1, ok: true, value: 'x' }] as const,
      [
        { id, ok: true, value: 'x' },
        { id, ok: true, value: 'y' },
      ] as const,
    ])
      expect(() => calls.deliver(answers, '$root', 'host-call')).toThrow(
        expect.objectContaining({ code: 'unknown_call' }),
      )
    const made = calls.deliver([{ id, ok: true, value: 'x' }], '$root', 'host-call')
    expect(() => calls.deliver([{ id, ok: true, value: 'y' }], '$root', 'host-call')).toThrow(
      expect.objectContaining({ code: 'unknown_call' }),
    )
    expect(instance.resume(made as () => unknown, FOREVER)).toMatchObject({ status: 'completed' })
  })

  it('takes no answer after its end', async () => {
    const opened = await open()
    void run(opened, 'a')
    opened.instance[DISPOSE]()
    expect(opened.instance.state).toBe('over')
    expect(() => answer(opened, 'said')).toThrow(expect.objectContaining({ code: 'isolate_destroyed' }))
    await expect(opened.instance.call('totals')).rejects.toMatchObject({ code: 'isolate_destroyed' })
  })

  it('is not put into the place of one that waits where the record says that it does not', async () => {
    const first = await open()
    void run(first, 'a')
    const { memoryBytes, changes, state } = captureOf(first)
    for (const changed of [
      { ...state, call: null },
      { ...state, calls: { ...state.calls, pending: null } },
      { ...state, core: { ...state.core, suspended: null } },
    ]) {
      const second = await open({ restores: true })
      const restore = (): void =>
        restoreComponent(
          { ...second, wasi: undefined },
          { memoryBytes, changes },
          parseComponentState(changed, CAPABILITIES),
        )
      expect(restore).toThrow(expect.objectContaining({ code: 'corrupted' }))
    }
  })
})

describe('calls of capabilities', () => {
  it('are counted, paid for, and not made any more by a guest that has to stop', async () => {
    const asked: unknown[] = []
    const sync = (args: unknown): string => {
      asked.push(args)
      return 'said'
    }
    const few = await open({ sync, limits: { calls: 2 } })
    expect(await few.instance.call('run', ['a\nb\nc\nd'])).toMatchObject({
      status: 'exhausted',
      limit: 'calls',
    })
    expect(asked).toHaveLength(2)

    asked.length = 0
    const free = await open({ sync })
    const { usage } = await free.instance.call('run', ['a'])
    expect(usage.fuel).toBeGreaterThan(2_000)
    // Enough for the guest's own work, and for none of its calls.
    const poor = await open({ sync, limits: { fuel: usage.fuel - 2_000 } })
    asked.length = 0
    expect(await poor.instance.call('run', ['a'])).toMatchObject({ status: 'exhausted', limit: 'fuel' })
    expect(asked.length).toBeLessThanOrEqual(1)
  })

  it('are begun without waiting within a bound, and only of what is granted', async () => {
    const { calls } = await open()
    expect(calls.answerTo(calls.request('other', {}))).toMatchObject({ ok: false, error: { code: 'denied' } })
    const begun = Array.from({ length: 64 }, () => calls.request('hostCall', { n: 1 }))
    expect(begun.filter((id) => calls.answerTo(id) === undefined)).toHaveLength(63)
    expect(calls.answerTo(begun.at(-1) as number)).toMatchObject({ ok: false, error: { code: 'denied' } })
    expect(() => calls.state()).toThrow(expect.objectContaining({ code: 'unsupported' }))
    // What nobody asked for yet is not asked for any more.
    for (const id of begun) calls.forget(id)
    expect([calls.pending, calls.takeAsked()]).toEqual([[], []])
    const late = calls.request('hostCall', { n: 2 })
    expect(calls.takeAsked()).toMatchObject([{ id: late, capability: 'hostCall', args: { n: 2 } }])
    calls.forget(late)
    expect(calls.pending).toMatchObject([{ id: late }])
    calls.deliver([{ id: late, ok: true, value: 'x' }], '', '')
    expect([calls.pending, calls.answerTo(late)]).toEqual([[], undefined])
  })

  it('count against the time of the guest, though no fuel tells of it', async () => {
    let now = 0
    const sync = (): string => {
      now += 1_000
      return 'said'
    }
    const { instance } = await open({ sync, limits: { wallMs: 10_000 }, monotonic: () => now })
    const lines = Array.from({ length: 100 }, () => 'a').join('\n')
    expect(await instance.call('run', [lines])).toMatchObject({ status: 'exhausted', limit: 'wall' })
    expect(now).toBeLessThan(40_000)
  })
})

function digestOf({ instance, calls }: Opened): string {
  const parts = { instance, calls, wasi: undefined, capabilities: CAPABILITIES, seed: new Uint8Array(32) }
  return captureDigest(captureComponent(parts, null), 'engine', nodePageTools.sha256)
}
