/** Guests that wait without leaving their stack: executed again from their beginning, with what they were answered. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from '@bytecodealliance/jco-transpile/wasm-tools'
import { describe, expect, it } from 'vitest'
import { openTestServer } from '../../host-bindings/fetch/http-server.testkit.ts'
import { createMemoryPreparedStore } from '../../host-bindings/prepared/memory-prepared-store.ts'
import { createMemoryRunStore } from '../../host-bindings/store/memory-run-store.ts'
import { readSample } from '../../scripts/samples/read-sample.ts'
import type { PendingCall } from '../../src/capability/call.ts'
import { type AnsweredGuest, askedFor, RepeatedAnswers } from '../../src/component/repeated-answers.ts'
import { createHostTree, createNodeFetchCapabilities } from '../../src/entry/bindings.node.ts'
import { type Capability, capability, openRuntime } from '../../src/entry/node.ts'
import type { OpenWasiTree } from '../../src/ports/wasi-source.ts'

/** Each is prepared once. */
const preparedCache = { store: createMemoryPreparedStore(), key: new Uint8Array(32).fill(5) }
const GRANTED = { grants: ['hostCall'], seed: 3, nowMs: 1_700_000_000_000 } as const

/** Answers later, and tells what it was asked. */
function asking(asked: unknown[] = [], more: Partial<Capability> = {}): Capability {
  return capability({
    name: 'hostCall',
    description: 'Says what it is told.',
    effect: 'write',
    ...(more as object),
    invoke: async (input: unknown) => {
      asked.push((input as { arguments: string }).arguments)
      await new Promise((resolve) => setTimeout(resolve, 1))
      return `said ${(input as { arguments: string }).arguments}`
    },
  })
}

const line = (text: string): string => `{"line":"${text}"}`
const answered = (...texts: string[]): string => texts.map((text) => `said ${line(text)}`).join('\n')

describe('a component that is executed again', () => {
  it.each(['tool-c', 'tool-as', 'tool-js'])(
    '%s gives what it gives where it is answered at once',
    async (name) => {
      const bytes = await readSample(name)
      const asked: unknown[] = []
      await using later = await openRuntime({ preparedCache, capabilities: [asking(asked)] })
      const now = { ...asking(), effect: 'read', sync: true } as const
      await using atOnce = await openRuntime({
        preparedCache,
        capabilities: [{ ...now, invoke: (input) => `said ${(input as { arguments: string }).arguments}` }],
      })
      const limits = { fuel: 2 ** 40 }
      const options = { ...GRANTED, args: ['a\nb\nc'], wasi: {}, limits } as const
      const again = await later.runComponent(bytes, { ...options, suspension: 'reexecute' })
      const whole = await atOnce.runComponent(bytes, options)
      expect(again).toMatchObject({ status: 'completed', value: answered('a', 'b', 'c') })
      expect(asked).toEqual(['a', 'b', 'c'].map(line))
      const { wallMs: _, idleMs: _idle, ...usage } = again.usage
      expect(whole).toMatchObject({ value: answered('a', 'b', 'c'), usage })
      expect(usage).toMatchObject({ calls: 3 })
    },
  )

  it('is what becomes of one whose modules call each other where it would have to be unwound', async () => {
    const bytes = await readSample('tool-js')
    const asked: unknown[] = []
    await using runtime = await openRuntime({ preparedCache, capabilities: [asking(asked)] })
    const ran = await runtime.runComponent(bytes, { ...GRANTED, args: ['a\nb'], wasi: {} })
    expect(ran).toMatchObject({ status: 'completed', value: answered('a', 'b') })
    expect(asked).toEqual(['a', 'b'].map(line))
    // It is not the code that was to be unwound.
    const other = { ...GRANTED, args: ['a\nb'], wasi: {}, suspension: 'reexecute' } as const
    expect((await runtime.runComponent(bytes, other)).usage.fuel).toBe(ran.usage.fuel)
    await expect(runtime.openComponent(bytes, { ...GRANTED, wasi: {} })).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringMatching(/another of its modules calls the one that waits.*runComponent/),
    })
  })

  it('may be one that was built before, from its files', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'caisson-suspension-'))
    try {
      writeFileSync(join(folder, 'tool.wasm'), await readSample('tool-js'))
      const cli = join(import.meta.dirname, '../../dist/src/cli/main.js')
      const build = ['build', join(folder, 'tool.wasm'), '--out', join(folder, 'tool')]
      execFileSync(process.execPath, [cli, ...build])
      const read = async (file: string): Promise<Uint8Array> =>
        new Uint8Array(readFileSync(join(folder, 'tool', file)))
      const manifest = JSON.parse(readFileSync(join(folder, 'tool/component.json'), 'utf8'))
      const asked: unknown[] = []
      const store = createMemoryRunStore()
      await using runtime = await openRuntime({ capabilities: [asking(asked)], store })
      const options = { grants: ['hostCall'], args: ['a\nb'], wasi: {}, run: 'kept', stopAtCall: 2 } as const
      expect(await runtime.runComponent({ manifest, read }, options)).toMatchObject({ status: 'suspended' })
      // What executes it is the same.
      const bytes = await readSample('tool-js')
      expect(await runtime.resumeComponent('kept', bytes, { grants: ['hostCall'] })).toMatchObject({
        status: 'completed',
        value: answered('a', 'b'),
      })
      expect(asked).toEqual(['a', 'b'].map(line))
      const refused = () =>
        execFileSync(process.execPath, [cli, ...build, '--suspend', 'hostCall'], { stdio: 'pipe' })
      expect(refused).toThrow(/runComponent\s+executes\s+it\s+again/)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })

  it('says what it was told before it trapped', async () => {
    const refusing = { ...asking(), invoke: () => Promise.reject(new Error('no')) }
    await using runtime = await openRuntime({ capabilities: [refusing] })
    const ran = await runtime.runComponent(await parse(UNTOLD), { grants: ['hostCall'] })
    expect(ran).toMatchObject({
      status: 'failed',
      error: { code: 'trapped', message: expect.stringMatching(/^The guest trapped.*capability_failed: /) },
    })
  })

  it('asks what is answered at once only once, and has the times of its answers', async () => {
    let looks = 0
    let nowMs = 1_000
    const look = capability({
      name: 'look',
      description: 'A number that grows.',
      effect: 'read',
      sync: true,
      invoke: () => (looks += 1),
    })
    const ask = capability({
      name: 'ask',
      description: 'Doubles.',
      effect: 'write',
      invoke: async (input: unknown) => {
        nowMs += 5
        return 2 * (input as { n: number }).n
      },
    })
    await using runtime = await openRuntime({
      capabilities: [look, ask],
      clock: { now: () => nowMs, monotonic: () => performance.now() },
    })
    const ran = await runtime.runComponent(await parse(TWO_ASKERS), {
      grants: ['look', 'ask'],
      suspension: 'reexecute',
    })
    // (((1 * 2) + 2) * 2 + 3) * 2 + 4
    expect(ran).toMatchObject({ status: 'completed', value: 26, usage: { calls: 7 } })
    expect(looks).toBe(4)
  })

  it('is kept, parked and gone on with by its record: nothing is asked twice', async () => {
    const store = createMemoryRunStore()
    const asked: unknown[] = []
    const bytes = await readSample('tool-js')
    const kept = { grants: ['hostCall'], seed: 3, args: ['a\nb\nc'], wasi: {}, run: 'kept' } as const
    await using first = await openRuntime({ preparedCache, capabilities: [asking(asked)], store })
    const parked = await first.runComponent(bytes, { ...kept, stopAtCall: 2 })
    expect(parked).toMatchObject({
      status: 'suspended',
      pending: [{ id: 2, capability: 'hostCall' }],
      resumable: true,
    })
    expect(asked).toEqual([line('a')])
    await using second = await openRuntime({ preparedCache, capabilities: [asking(asked)], store })
    const ended = await second.resumeComponent('kept', bytes, { grants: ['hostCall'] })
    expect(ended).toMatchObject({ status: 'completed', value: answered('a', 'b', 'c') })
    expect(asked).toEqual(['a', 'b', 'c'].map(line))
  })

  it('waits for a person with nothing at work, and does what they let it', async () => {
    const store = createMemoryRunStore()
    const asked: unknown[] = []
    const bytes = await readSample('tool-js')
    const grants = [{ capability: 'hostCall', approve: true }] as const
    await using first = await openRuntime({ preparedCache, capabilities: [asking(asked)], store })
    const waiting = await first.runComponent(bytes, { grants, args: ['a'], wasi: {}, run: 'kept' })
    expect(waiting).toMatchObject({
      status: 'suspended',
      pending: [{ id: 1, approval: { action: 'hostCall' } }],
    })
    expect(asked).toEqual([])
    const { approval } = (waiting.status === 'suspended' && waiting.pending[0]) || {}
    if (approval === undefined) throw new Error('Nobody is asked.')
    await using second = await openRuntime({ preparedCache, capabilities: [asking(asked)], store })
    const decisions = [{ request: approval.digest, decision: 'approve', by: 'me' }] as const
    const ended = await second.resumeComponent('kept', bytes, { grants, decisions })
    expect(ended).toMatchObject({ status: 'completed', value: answered('a') })
    expect(asked).toEqual([line('a')])
  })

  it('ends at the limits of one execution, however often it was executed', async () => {
    const bytes = await readSample('tool-c')
    await using runtime = await openRuntime({ preparedCache, capabilities: [asking()] })
    const run = (limits: object, args = ['a\nb\nc']) =>
      runtime.runComponent(bytes, { ...GRANTED, args, suspension: 'reexecute', limits })
    const { usage } = await run({})
    expect(await run({ fuel: usage.fuel })).toMatchObject({
      status: 'completed',
      usage: { fuel: usage.fuel },
    })
    expect(await run({ fuel: usage.fuel - 1 })).toMatchObject({ status: 'exhausted', limit: 'fuel' })
    expect(await run({ calls: 2 })).toMatchObject({ status: 'exhausted', limit: 'calls' })
    expect(await run({ bytesOut: 10 })).toMatchObject({ status: 'exhausted', limit: 'bytes' })
  })

  it('is given no real directory to write into, and may read from one', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'caisson-suspension-'))
    try {
      writeFileSync(join(folder, 'a.txt'), 'text')
      const bytes = await readSample('wasi-probe-c')
      await using runtime = await openRuntime()
      const open: OpenWasiTree = (nowNs) => createHostTree({ root: folder, nowNs })
      const run = (writable: boolean) =>
        runtime.runComponent(bytes, {
          args: ['read /data/a.txt'],
          suspension: 'reexecute',
          wasi: { directories: { '/data': { open, writable } } },
        })
      expect(await run(false)).toMatchObject({ status: 'completed', value: 'text' })
      await expect(run(true)).rejects.toMatchObject({
        code: 'unsupported',
        message: expect.stringContaining('/data'),
      })
      // Nothing was begun under the name.
      await using kept = await openRuntime({ store: createMemoryRunStore() })
      const named = { args: ['print a'], suspension: 'reexecute', run: 'named' } as const
      const wasi = { directories: { '/data': { open, writable: true } } }
      await expect(kept.runComponent(bytes, { ...named, wasi })).rejects.toMatchObject({
        code: 'unsupported',
      })
      expect(await kept.runComponent(bytes, { ...named, wasi: {} })).toMatchObject({ status: 'completed' })
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })

  it('asks over HTTP, each request once', async () => {
    await using server = await openTestServer((request, response) => {
      response.end(`answer to ${request.url}`)
    })
    await using runtime = await openRuntime({
      capabilities: createNodeFetchCapabilities({
        allow: [server.origin],
        allowPrivate: [`127.0.0.1:${server.port}`],
      }),
    })
    const ran = await runtime.runComponent(await readSample('http-c'), {
      grants: ['net.fetch'],
      export: 'ask',
      args: ['GET', `127.0.0.1:${server.port}`, '/a\n/b\n/c', ''],
      wasi: {},
      suspension: 'reexecute',
    })
    expect(ran).toMatchObject({ status: 'completed', value: expect.stringContaining('answer to /c') })
    expect(server.asked).toEqual(['GET /a', 'GET /b', 'GET /c'])
  })
})

describe('a component that nobody says how to wait', () => {
  const doubling = capability({
    name: 'ask',
    description: 'Doubles.',
    effect: 'write',
    invoke: async (input: unknown) => 2 * (input as { n: number }).n,
  })
  const run = async (wat: string) => {
    await using runtime = await openRuntime({ capabilities: [doubling] })
    return await runtime.runComponent(await parse(wat), { grants: ['ask'] })
  }
  const ASKS = '(import "$root" "ask" (func $ask (param i32) (result i32)))'
  const LOWERED = `(import "ask" (func $ask (param "n" u32) (result u32)))
    (core func $lowered (canon lower (func $ask)))`
  const given = (module: string): string =>
    `(core instance $i (instantiate ${module} (with "$root" (instance (export "ask" (func $lowered))))))`

  it('waits without a memory, and where what it imports is what it exports', async () => {
    const module = `(core module $m ${ASKS} (func (export "run") (result i32) (call $ask (i32.const 4))))`
    const called = `(component ${LOWERED} ${module} ${given('$m')}
      (func (export "run") (result u32) (canon lift (core func $i "run"))))`
    expect(await run(called)).toMatchObject({ status: 'completed', value: 8 })
    const itself = `(component ${LOWERED}
      (func (export "run") (param "n" u32) (result u32) (canon lift (core func $lowered))))`
    await using runtime = await openRuntime({ capabilities: [doubling] })
    expect(await runtime.runComponent(await parse(itself), { grants: ['ask'], args: [3] })).toMatchObject({
      status: 'completed',
      value: 6,
    })
  })

  it('waits in one that another one calls', async () => {
    const inner = `(component $inner ${LOWERED}
      (core module $m ${ASKS} (memory 1) (func (export "f") (result i32) (call $ask (i32.const 4))))
      ${given('$m')} (func (export "f") (result u32) (canon lift (core func $i "f"))))`
    const outer = `(component $outer (import "f" (func $f (result u32)))
      (core func $g (canon lower (func $f)))
      (core module $m (import "a" "f" (func $f (result i32)))
        (func (export "run") (result i32) (i32.add (call $f) (i32.const 1))))
      (core instance $i (instantiate $m (with "a" (instance (export "f" (func $g))))))
      (func (export "run") (result u32) (canon lift (core func $i "run"))))`
    const both = `(component (import "ask" (func $ask (param "n" u32) (result u32))) ${inner} ${outer}
      (instance $b (instantiate $inner (with "ask" (func $ask))))
      (instance $a (instantiate $outer (with "f" (func $b "f"))))
      (export "run" (func $a "run")))`
    expect(await run(both)).toMatchObject({ status: 'completed', value: 9 })
  })

  it('is looked at in a time, and with a memory, that its size bounds', async () => {
    const many = Array.from({ length: 20_000 }, (_, at) => `(export "m${at}" (memory 0))`).join('')
    const wide = `(component ${LOWERED}
      (core module $m ${ASKS} (memory 1) ${many}
        (func (export "run") (result i32) (call $ask (i32.const 4))))
      (core module $n) ${'(core instance (instantiate $n))'.repeat(300)} ${given('$m')}
      (func (export "run") (result u32) (canon lift (core func $i "run"))))`
    expect(await run(wide)).toMatchObject({ status: 'completed', value: 8 })
  })
})

describe('answers that are given again', () => {
  const guestThatAsks = (calls: readonly PendingCall[]): AnsweredGuest => ({
    deliver: (answers) => () => answers[0],
    takeAsked: () => calls,
    advance: () => undefined,
    fuel: () => 7,
  })
  const call = (args: unknown, capability = 'ask'): PendingCall => ({
    id: 1,
    capability,
    args,
    bytes: 1,
    askedAtMs: 0,
  })

  it('are for the calls that they were given for, and for no others', () => {
    const settlements = [
      { asked: askedFor([call(3)]), answers: [{ id: 1, ok: true, value: 4 }], nowMs: 0 },
    ] as const
    const at = { module: '$root', name: 'ask' }
    expect(new RepeatedAnswers(settlements).suspend(at, guestThatAsks([call(3)]))()).toMatchObject({
      value: 4,
    })
    for (const asked of [[call(4)], [call(3, 'other')], [], [call(3), call(3)]])
      expect(() => new RepeatedAnswers(settlements).suspend(at, guestThatAsks(asked))).toThrow(
        expect.objectContaining({ code: 'diverged' }),
      )
  })
})

describe('a module that was not made suspendable', () => {
  const asked: unknown[] = []
  const lookup = (more: object = {}): Capability =>
    capability({
      name: 'prices.lookup',
      description: 'Prices',
      effect: 'write',
      invoke: async (input: unknown) => {
        asked.push((input as { sku: string }).sku)
        await new Promise((resolve) => setTimeout(resolve, 1))
        return 10 + asked.length
      },
      ...more,
    })
  const said = (outcome: object): string =>
    new TextDecoder().decode((outcome as { value: { stdout: Uint8Array } }).value.stdout)

  it('is executed again where it calls what is answered later, at the cost of one execution', async () => {
    asked.length = 0
    const bytes = await readSample('asking-c')
    await using later = await openRuntime({ capabilities: [lookup()] })
    let sum = 0
    const now = { effect: 'read', sync: true, invoke: () => 11 + sum++ } as const
    await using atOnce = await openRuntime({ capabilities: [lookup(now)] })
    const options = { grants: ['prices.lookup'], suspendable: false, seed: 1, nowMs: 0 } as const
    const again = await later.runModule(bytes, options)
    const whole = await atOnce.runModule(bytes, options)
    expect(said(again)).toBe('p0 costs 11\np1 costs 12\np2 costs 13\ntogether 36\n')
    expect(asked).toEqual(['p0', 'p1', 'p2'])
    expect(said(whole)).toBe(said(again))
    const { wallMs: _, idleMs: _idle, ...usage } = again.usage
    expect(whole.usage).toMatchObject(usage)
  })

  it('is kept, parked, and gone on with by its record', async () => {
    asked.length = 0
    const bytes = await readSample('asking-c')
    const store = createMemoryRunStore()
    const options = { grants: ['prices.lookup'], suspendable: false } as const
    await using first = await openRuntime({ capabilities: [lookup()], store })
    expect(await first.runModule(bytes, { ...options, run: 'kept', stopAtCall: 3 })).toMatchObject({
      status: 'suspended',
      pending: [{ id: 3 }],
    })
    await using second = await openRuntime({ capabilities: [lookup()], store })
    const ended = await second.resumeModule('kept', bytes, options)
    expect(said(ended)).toBe('p0 costs 11\np1 costs 12\np2 costs 13\ntogether 36\n')
    expect(asked).toEqual(['p0', 'p1', 'p2'])
  })

  it('is refused a real directory to write into where it may wait, and there alone', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'caisson-suspension-'))
    try {
      const bytes = await readSample('asking-c')
      const open: OpenWasiTree = (nowNs) => createHostTree({ root: folder, nowNs })
      const directories = { '/data': { open, writable: true } }
      const options = { grants: ['prices.lookup'], suspendable: false, directories } as const
      await using later = await openRuntime({ capabilities: [lookup()] })
      await expect(later.runModule(bytes, options)).rejects.toMatchObject({ code: 'unsupported' })
      const now = { effect: 'read', sync: true, invoke: () => 1 } as const
      await using atOnce = await openRuntime({ capabilities: [lookup(now)] })
      expect(await atOnce.runModule(bytes, options)).toMatchObject({ status: 'completed' })
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})

/** Traps where its call failed. */
const UNTOLD = `
(component
  (import "host-call" (func $call (result (result))))
  (core func $lowered (canon lower (func $call)))
  (core module $m
    (import "host" "call" (func $call (result i32)))
    (func (export "run") (result i32) (if (call $call) (then unreachable)) (i32.const 0)))
  (core instance $i (instantiate $m (with "host" (instance (export "call" (func $lowered))))))
  (func (export "run") (result u32) (canon lift (core func $i "run"))))`

/** Looks, then three times: asks for the double, and looks again. */
const TWO_ASKERS = `
(component
  (import "ask" (func $ask (param "n" u32) (result u32)))
  (import "look" (func $look (result u32)))
  (core func $lowered-ask (canon lower (func $ask)))
  (core func $lowered-look (canon lower (func $look)))
  (core module $m
    (import "host" "ask" (func $ask (param i32) (result i32)))
    (import "host" "look" (func $look (result i32)))
    (func (export "run") (result i32)
      (local $sum i32) (local $left i32)
      (local.set $sum (call $look))
      (local.set $left (i32.const 3))
      (loop $again
        (local.set $sum (i32.add (call $ask (local.get $sum)) (call $look)))
        (local.set $left (i32.sub (local.get $left) (i32.const 1)))
        (br_if $again (local.get $left)))
      (local.get $sum)))
  (core instance $i (instantiate $m (with "host" (instance
    (export "ask" (func $lowered-ask)) (export "look" (func $lowered-look))))))
  (func (export "run") (result u32) (canon lift (core func $i "run"))))`
