/** Runs of plans whose journals were cut: less to keep, and still something to verify. */
import { describe, expect, it } from 'vitest'
import { createMemoryRunStore } from '../../host-bindings/store/memory-run-store.ts'
import { fromHex } from '../../src/base/bytes.ts'
import {
  capability,
  openRuntime,
  openSigner,
  type Plan,
  type Runtime,
  type RuntimeOptions,
  type SignedReceipt,
} from '../../src/entry/node.ts'
import type { RunStore } from '../../src/ports/run-store.ts'

const PEM = `-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g
-----END PRIVATE KEY-----
`
const SIGNERS = [fromHex('d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a')]

/** Too large to stand in the journal. */
const OUTPUT = '7'.repeat(20_000)

const PLAN: Plan = {
  format: 'plan/1',
  name: 'texts',
  version: '1',
  grants: ['texts.long'],
  nodes: {
    kept: {
      kind: 'program',
      source: 'return await texts.long(input)',
      input: { $from: 'input' },
      grants: ['texts.long'],
    },
    call: { kind: 'call', capability: 'texts.long', input: { $from: 'kept' } },
  },
  output: { $from: 'call' },
}

async function using<T>(
  store: RunStore,
  work: (runtime: Runtime) => Promise<T>,
  options: RuntimeOptions = {},
): Promise<T> {
  const capabilities = [
    capability({
      name: 'texts.long',
      description: 'A long text',
      effect: 'read',
      invoke: async (input) => String(input).slice(0, 10).repeat(2_000),
    }),
  ]
  const runtime = await openRuntime({
    capabilities,
    store,
    receipts: { sign: await openSigner(PEM) },
    ...options,
  })
  try {
    return await work(runtime)
  } finally {
    await runtime.close()
  }
}

async function complete(runtime: Runtime, erasable: boolean = false): Promise<readonly SignedReceipt[]> {
  const run = await runtime.propose(PLAN, { by: 'ann', run: 'r', input: 7, erasable })
  await expect(runtime.compact('r', { by: 'carol' })).rejects.toMatchObject({ code: 'invalid_transition' })
  await run.approve({ by: 'ann', digest: (await run.view()).request })
  await run.start({ by: 'ann' })
  expect(await run.outcome()).toMatchObject({ status: 'completed', output: OUTPUT })
  return runtime.receipts('r')
}

/** The store, of which one method is another. */
function around(store: RunStore, other: Partial<RunStore>): RunStore {
  return new Proxy(store, {
    get(target, name) {
      const method = (other as Record<PropertyKey, unknown>)[name] ?? Reflect.get(target, name)
      return typeof method === 'function' ? method.bind(target) : method
    },
  })
}

describe('a run whose journal was cut', () => {
  it('is shown as it ended, and verified by what stands in its place', async () => {
    const store = createMemoryRunStore()
    await using(store, async (runtime) => {
      const receipts = await complete(runtime)
      const before = await (await runtime.planRun('r')).view()
      await runtime.compact('r', { by: 'carol' })
      await runtime.compact('r', { by: 'mallory' })
      await store.collect({ graceMs: 0 })
      const run = await runtime.planRun('r')
      const { cut, ...view } = await run.view()
      expect(view).toEqual(before)
      expect(cut).toEqual({ entries: before.events, by: 'carol', atMs: expect.any(Number) })
      expect(await run.outcome()).toMatchObject({ status: 'completed', output: OUTPUT })
      for await (const event of run.events()) expect.unreachable(`${event.position} was told`)
      const known = [{ events: before.events, point: before.point }]
      const verified = await runtime.verify('r', { signers: SIGNERS, receipts, known })
      expect(verified).toMatchObject({ ok: true, events: before.events, point: before.point, executed: 0 })
      expect(verified.cut).toMatchObject({
        entries: before.events,
        events: { proposed: 1, completed: 1 },
        by: 'carol',
      })
      expect(verified.unchecked[0]?.why).toMatch(/was cut/)
      await expect(run.cancel({ by: 'ann', reason: 'no' })).rejects.toMatchObject({
        code: 'invalid_transition',
      })
      await expect(runtime.propose(PLAN, { by: 'ann', run: 'r' })).rejects.toMatchObject({
        code: 'already_exists',
      })
      await expect(runtime.exportRun('r')).rejects.toMatchObject({ code: 'invalid_transition' })
    })
    expect(await store.entries('r', 0, 10)).toEqual([])
    expect((await store.runs()).some((name) => /^r\.[0-9a-f]{24}$/.test(name))).toBe(false)
  })

  it('is cut by whoever may cut it, whatever they are called', async () => {
    const by = '\u{1F600}'.repeat(200)
    await using(createMemoryRunStore(), async (runtime) => {
      await complete(runtime, true)
      await runtime.erase('r', { by })
      await runtime.compact('r', { by })
      const { cut, erased } = await (await runtime.planRun('r')).view()
      expect([cut?.by, erased?.by]).toEqual([by, by])
    })
  })

  it('is not cut where what stands in its place cannot be read back', async () => {
    const store = createMemoryRunStore()
    let isLying = false
    // A disk that gives something else than it was given.
    const getBlob: RunStore['getBlob'] = async (id) => {
      const bytes = await store.getBlob(id)
      return isLying ? bytes?.map((byte) => byte ^ 1) : bytes
    }
    await using(around(store, { getBlob }), async (runtime) => {
      await complete(runtime)
      isLying = true
      await expect(runtime.compact('r', { by: 'carol' })).rejects.toMatchObject({ code: 'corrupted' })
      isLying = false
      expect(await runtime.verify('r')).toMatchObject({ ok: true, cut: undefined })
      await runtime.compact('r', { by: 'carol' })
      expect((await (await runtime.planRun('r')).view()).cut).toMatchObject({ by: 'carol' })
    })
  })

  it('is told from one of which anything was changed', async () => {
    const store = createMemoryRunStore()
    const receipts = await using(store, async (runtime) => {
      const made = await complete(runtime)
      await runtime.compact('r', { by: 'carol' })
      return made
    })
    const [statement] = await store.entries('r.cut', 0, 1)
    const image = (await store.head('r.cut'))?.chain[1]
    const bytes = statement as Uint8Array
    for (let at = 0; at < bytes.length; at += 7) {
      const changed = bytes.map((byte, i) => (i === at ? byte ^ 1 : byte))
      const hostile = around(store, {
        entries: async (run, from, most) => (run === 'r.cut' ? [changed] : store.entries(run, from, most)),
      })
      const verified = await using(hostile, (runtime) => runtime.verify('r', { signers: SIGNERS }))
      expect(verified.ok, `byte ${at}`).toBe(false)
    }
    const other = around(store, {
      getBlob: async (id) => (id === image ? new Uint8Array(100) : store.getBlob(id)),
    })
    await using(other, async (runtime) => {
      expect((await runtime.verify('r', { signers: SIGNERS })).ok).toBe(false)
      await expect(runtime.planRun('r')).rejects.toMatchObject({ code: 'corrupted' })
    })
    await using(store, async (runtime) => {
      const [first] = receipts as [SignedReceipt]
      const forged = { ...first, receipt: { ...first.receipt, node: 'other' } }
      for (const options of [
        { receipts: [forged] },
        { known: [{ events: 500, point: first.digest }] },
        { signers: [new Uint8Array(32)] },
      ])
        expect((await runtime.verify('r', options)).ok).toBe(false)
    })
  })

  it('is not taken for cut by who asks for signatures, where nobody signed that', async () => {
    const store = createMemoryRunStore()
    await using(store, (runtime) => complete(runtime))
    await using(store, (runtime) => runtime.compact('r', { by: 'carol' }), { receipts: {} })
    await using(store, async (runtime) => {
      expect((await runtime.verify('r')).ok).toBe(true)
      expect(await runtime.verify('r', { signers: SIGNERS })).toMatchObject({
        ok: false,
        difference: { of: 'signature' },
      })
    })
  })

  it('is whole or cut, whenever the process dies, and is cut by the next one', async () => {
    for (let most = 0; ; most += 1) {
      const store = createMemoryRunStore()
      await using(store, (runtime) => complete(runtime))
      let writes = 0
      const dying = new Proxy(store, {
        get(target, name) {
          const method = Reflect.get(target, name)
          if (typeof method !== 'function') return method
          if (!['putBlob', 'append', 'setHead', 'remove'].includes(String(name))) return method.bind(target)
          return async (...args: unknown[]) => {
            if (writes >= most) throw new Error('gone')
            writes += 1
            return method.apply(target, args)
          }
        },
      })
      const hasCut = await using(dying, (runtime) =>
        runtime.compact('r', { by: 'carol' }).then(
          () => true,
          () => false,
        ),
      )
      await using(store, async (runtime) => {
        const run = await runtime.planRun('r')
        expect(await run.outcome(), `after ${most} writes`).toMatchObject({ status: 'completed' })
        expect(await runtime.verify('r', { signers: SIGNERS }), `after ${most} writes`).toMatchObject({
          ok: true,
        })
        await runtime.compact('r', { by: 'carol' })
        await store.collect({ graceMs: 0 })
        expect(await runtime.verify('r', { signers: SIGNERS })).toMatchObject({
          ok: true,
          cut: { by: 'carol' },
        })
        expect(await store.runs()).toContain('r')
      })
      if (hasCut) break
      expect(most).toBeLessThan(30)
    }
  })

  it('is erased, too', async () => {
    await using(createMemoryRunStore(), async (runtime) => {
      await complete(runtime, true)
      await runtime.compact('r', { by: 'carol' })
      await runtime.erase('r', { by: 'dave' })
      const run = await runtime.planRun('r')
      await expect(run.outcome()).rejects.toMatchObject({ code: 'erased' })
      expect(await runtime.verify('r', { signers: SIGNERS })).toMatchObject({
        ok: true,
        cut: { by: 'carol' },
        erased: { by: 'dave' },
      })
      expect((await run.view()).erased).toMatchObject({ by: 'dave' })
    })
  })
})
