import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createMemoryPreparedStore } from '../../../host-bindings/prepared/memory-prepared-store.ts'
import { readSample } from '../../../scripts/samples/read-sample.ts'
import { capability, openRuntime } from '../../entry/node.ts'
import type { Runtime } from '../runtime.ts'

const SEED = 7
const NOW = 1_700_000_000_000

/** `$root` `host-call` of the samples: the capability `hostCall`. */
const echo = capability({
  name: 'hostCall',
  description: 'Says what it is told.',
  effect: 'read',
  input: z.object({ name: z.string(), arguments: z.string() }),
  output: z.string(),
  invoke: async ({ arguments: said }) => {
    await new Promise((resolve) => setTimeout(resolve, 1))
    return `said ${said}`
  },
})
const echoNow = capability({
  name: 'hostCall',
  description: 'Says what it is told, at once.',
  effect: 'read',
  input: z.object({ name: z.string(), arguments: z.string() }),
  output: z.string(),
  sync: true,
  invoke: ({ arguments: said }) => `said ${said}`,
})
/** What is made suspendable is so once for all tests. */
const cache = { store: createMemoryPreparedStore(), key: new Uint8Array(32).fill(1) }
const GRANTED = { grants: ['hostCall'], seed: SEED, nowMs: NOW, limits: { fuel: 100_000_000 }, cache }

describe('WASI in a component', () => {
  const open = async (runtime: Runtime, wasi: object) =>
    runtime.openComponent(await readSample('wasi-probe-c'), { wasi, seed: SEED, nowMs: NOW })

  it('is not there unless it is asked for', async () => {
    await using runtime = await openRuntime()
    const opening = runtime.openComponent(await readSample('wasi-probe-c'))
    await expect(opening).rejects.toMatchObject({
      code: 'missing_imports',
      details: { missing: expect.arrayContaining([expect.objectContaining({ name: 'exit' })]) },
    })
  })

  it('gives what is granted, and keeps what it prints', async () => {
    await using runtime = await openRuntime()
    const component = await open(runtime, {
      env: { WHO: 'me' },
      stdin: 'typed',
      directories: { '/data': { files: { 'a.txt': 'text' } } },
      clock: true,
      random: true,
    })
    const say = async (action: string) => component.call('run', [action])
    expect(await say('env WHO')).toMatchObject({ value: { tag: 'ok', val: 'me' } })
    expect(await say('stdin')).toMatchObject({ value: { tag: 'ok', val: 'typed' } })
    expect(await say('read /data/a.txt')).toMatchObject({ value: { tag: 'ok', val: 'text' } })
    expect(await say('write /data/b.txt')).toMatchObject({ value: { tag: 'err' } })
    expect(await say('print hello')).toMatchObject({ value: { tag: 'ok' } })
    expect(await say('complain no')).toMatchObject({ value: { tag: 'ok' } })
    expect(new TextDecoder().decode(component.stdout.bytes)).toBe('hello\n')
    expect(new TextDecoder().decode(component.stderr.bytes)).toBe('no\n')
    // Logical: the host's clock has not moved by an hour, and the guest's has.
    expect(await say('time')).toMatchObject({ value: { val: String(NOW / 1_000) } })
    expect(await say('sleep 1000')).toMatchObject({ value: { val: '1000' } })
    const drawn = await say('random')
    const again = await open(runtime, { random: true })
    expect((await again.call('run', ['random'])) as object).toMatchObject({
      value: (drawn as { value: unknown }).value,
    })
  })

  it('makes of an exit an outcome', async () => {
    await using runtime = await openRuntime()
    const component = await open(runtime, {})
    // `exit` of WASI 0.2 says no more than whether it went well: the adapter in the guest drops the 7.
    expect(await component.call('run', ['exit 7'])).toMatchObject({ status: 'exited', exitCode: 1 })
    await expect(component.call('run', ['env A'])).rejects.toMatchObject({ code: 'isolate_destroyed' })
  })

  it('that lacks a clock is denied inside, or refused at open', async () => {
    await using runtime = await openRuntime()
    const component = await open(runtime, {})
    expect(await component.call('run', ['env A'])).toMatchObject({ status: 'completed' })
    expect(await component.call('run', ['time'])).toMatchObject({
      status: 'failed',
      error: { code: 'not_granted', message: expect.stringContaining('clock') },
    })
    await expect(open(runtime, { missing: 'refuse' })).rejects.toMatchObject({
      code: 'missing_imports',
      details: { missing: expect.arrayContaining([{ interface: expect.any(String), grant: 'clock' }]) },
    })
  })

  it('keeps no more of its output than logBytes, and ends sleeps at idleMs', async () => {
    await using runtime = await openRuntime()
    const component = await runtime.openComponent(await readSample('wasi-probe-c'), {
      wasi: { clock: true },
      limits: { logBytes: 8, idleMs: 5_000 },
    })
    await component.call('run', ['print 0123456789'])
    expect(component.stdout).toMatchObject({ bytes: new TextEncoder().encode('01234567'), droppedBytes: 3 })
    expect(await component.call('run', ['sleep 6000'])).toMatchObject({ status: 'exhausted', limit: 'idle' })
  })

  it('sleeps no longer for having been parked in between', async () => {
    await using runtime = await openRuntime()
    const options = { wasi: { clock: true }, limits: { idleMs: 5_000 } }
    const bytes = await readSample('wasi-probe-c')
    const component = await runtime.openComponent(bytes, options)
    expect(await component.call('run', ['sleep 3000'])).toMatchObject({ value: { val: '3000' } })
    const from = await component.checkpoint()
    const again = await runtime.openComponent(bytes, { ...options, from })
    expect(again.stateDigest()).toBe(component.stateDigest())
    for (const one of [component, again])
      expect(await one.call('run', ['sleep 3000'])).toMatchObject({ status: 'exhausted', limit: 'idle' })
  })
})

describe('granted capabilities', () => {
  it.each(['tool-c', 'tool-as'])(
    'are called by %s, sync ones at once and the others awaited',
    async (name) => {
      for (const one of [echo, echoNow]) {
        await using runtime = await openRuntime({ capabilities: [one] })
        const component = await runtime.openComponent(await readSample(name), GRANTED)
        expect(await component.call('run', ['a\nb'])).toMatchObject({
          status: 'completed',
          value: { tag: 'ok', val: 'said {"line":"a"}\nsaid {"line":"b"}' },
        })
        expect(await component.call('totals')).toMatchObject({ value: [1, 35] })
      }
    },
  )

  it('that are refused are errors of WIT, and counted over all calls', async () => {
    await using runtime = await openRuntime({ capabilities: [echo] })
    const component = await runtime.openComponent(await readSample('tool-c'), {
      ...GRANTED,
      grants: [{ capability: 'hostCall', calls: 1 }],
    })
    expect(await component.call('run', ['a'])).toMatchObject({ value: { tag: 'ok' } })
    expect(await component.call('run', ['a'])).toMatchObject({
      value: { tag: 'err', val: expect.stringMatching(/^budget_exhausted: /) },
    })
  })

  it('refuse a second call while one waits', async () => {
    let answer = (_said: string): void => {}
    let asked = (): void => {}
    const isAsked = new Promise<void>((resolve) => {
      asked = resolve
    })
    const slow = capability({
      ...echo,
      invoke: () => {
        asked()
        return new Promise<string>((resolve) => {
          answer = resolve
        })
      },
    })
    await using runtime = await openRuntime({ capabilities: [slow] })
    const component = await runtime.openComponent(await readSample('tool-c'), GRANTED)
    const first = component.call('run', ['a'])
    await expect(component.call('totals')).rejects.toMatchObject({ code: 'busy' })
    await isAsked
    expect(component.state).toBe('busy')
    await expect(component.call('totals')).rejects.toMatchObject({ code: 'busy' })
    answer('late')
    expect(await first).toMatchObject({ status: 'completed' })
    expect(await component.call('totals')).toMatchObject({ status: 'completed' })
  })
})

describe('a checkpoint', () => {
  it.each(['tool-c', 'tool-as'])(
    'of %s in the middle of a call goes on elsewhere as if nothing was',
    async (name) => {
      const bytes = await readSample(name)
      await using runtime = await openRuntime({ capabilities: [echo] })
      const whole = await runtime.openComponent(bytes, GRANTED)
      const expected = await whole.call('run', ['a\nb\nc'])

      const first = await runtime.openComponent(bytes, GRANTED)
      const parked = await first.call('run', ['a\nb\nc'], { stopAtCall: 2 })
      expect(parked).toMatchObject({ status: 'suspended', pending: [{ id: 2, capability: 'hostCall' }] })
      const checkpoint = await first.checkpoint()
      const digest = first.stateDigest()
      first[Symbol.dispose]()

      await using other = await openRuntime({ capabilities: [echo] })
      const second = await other.openComponent(bytes, { ...GRANTED, from: checkpoint })
      expect(second.stateDigest()).toBe(digest)
      expect(second.waits).toBe(true)
      const went = await second.goOn()
      expect(went).toMatchObject({ status: 'completed', value: (expected as { value: unknown }).value })
      expect(went.usage.fuel).toBe(expected.usage.fuel)
      expect(second.stateDigest()).toBe(whole.stateDigest())
      expect(await second.call('totals')).toMatchObject({ value: [1, 53] })
    },
  )

  it('of a call that may change something leaves it in doubt; parked here, it is known that nobody made it', async () => {
    let made = 0
    const write = capability({ ...echo, effect: 'write', invoke: async () => `made ${++made}` })
    const bytes = await readSample('tool-as')
    await using runtime = await openRuntime({ capabilities: [write] })
    const first = await runtime.openComponent(bytes, GRANTED)
    await first.call('run', ['a'], { stopAtCall: 1 })
    const second = await runtime.openComponent(bytes, { ...GRANTED, from: await first.checkpoint() })
    expect(await second.goOn()).toMatchObject({ status: 'suspended', inDoubt: [1] })
    expect(await second.goOn()).toMatchObject({ status: 'suspended', inDoubt: [1] })
    expect(made).toBe(0)
    expect(await first.goOn()).toMatchObject({ status: 'completed', value: { tag: 'ok', val: 'made 1' } })
  })

  it('of a call in doubt is decided by hand: answered, or made again, and by nothing else', async () => {
    let made = 0
    const write = capability({ ...echo, effect: 'write', invoke: async () => `made ${++made}` })
    const bytes = await readSample('tool-as')
    await using runtime = await openRuntime({ capabilities: [write] })
    const first = await runtime.openComponent(bytes, GRANTED)
    await first.call('run', ['a\nb'], { stopAtCall: 1 })
    const from = await first.checkpoint()
    const inDoubt = () => runtime.openComponent(bytes, { ...GRANTED, from })
    const answered = await inDoubt()
    for (const [options, code] of [
      [{ answers: [{ id: 2, value: 'x' }] }, 'unknown_call'],
      [{ answers: [{ id: 1, value: 5 }] }, 'invalid_result'],
      [{ confirm: [7] }, 'unknown_call'],
      [{ answers: [null] }, 'invalid_argument'],
      [{ decisions: [] }, 'invalid_argument'],
    ] as const)
      await expect(answered.goOn(options as object)).rejects.toMatchObject({ code })
    expect([answered.waits, made]).toEqual([true, 0])
    expect(await answered.goOn({ answers: [{ id: 1, value: 'known' }] })).toMatchObject({
      status: 'completed',
      value: { val: 'known\nmade 1' },
    })
    const confirmed = await inDoubt()
    expect(await confirmed.goOn({ confirm: [1] })).toMatchObject({ value: { val: 'made 2\nmade 3' } })
    const failed = await inDoubt()
    const error = new Error('It did not happen.')
    expect(await failed.goOn({ answers: [{ id: 1, error }] })).toMatchObject({ value: { tag: 'err' } })
  })
})
