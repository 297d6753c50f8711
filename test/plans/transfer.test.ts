/** Runs of plans as files: exported, imported elsewhere, and looked at by whoever changes a byte. */
import { describe, expect, it } from 'vitest'
import { createMemoryRunStore } from '../../host-bindings/store/memory-run-store.ts'
import { nodeCheckpointPorts } from '../../host-bindings/system/checkpoint-ports.node.ts'
import {
  CaissonError,
  capability,
  openRuntime,
  type Plan,
  type Runtime,
  type RuntimeOptions,
} from '../../src/entry/node.ts'
import type { RunStore } from '../../src/ports/run-store.ts'
import { decodeExport, encodeExport } from '../../src/runtime/plans/transfer/export-format.ts'

const PLAN: Plan = {
  format: 'plan/1',
  name: 'prices',
  version: '1',
  grants: ['prices.lookup', 'report.publish'],
  nodes: {
    sum: {
      kind: 'program',
      source: 'let sum = 0; for (const sku of input) sum += await prices.lookup(sku); return sum',
      input: { $from: 'input' },
      grants: ['prices.lookup'],
    },
    agree: { kind: 'approval', question: 'Publish?', show: { total: { $from: 'sum' } } },
    publish: { kind: 'call', capability: 'report.publish', input: { total: { $from: 'agree/value/total' } } },
  },
  output: { $from: 'publish' },
}

const KEYS: RuntimeOptions = {
  checkpoints: { keys: { mac: { current: { id: 'm', bytes: new Uint8Array(32).fill(3) } } } },
}

async function using<T>(
  store: RunStore,
  work: (runtime: Runtime, effects: string[]) => Promise<T>,
  options: RuntimeOptions = {},
): Promise<T> {
  const effects: string[] = []
  const capabilities = [
    capability({
      name: 'prices.lookup',
      description: 'Price',
      effect: 'read',
      invoke: async (sku) => String(sku).length,
    }),
    capability({
      name: 'report.publish',
      description: 'Publishes',
      effect: 'write',
      invoke: async (_input, { idempotencyKey }) => {
        effects.push(idempotencyKey)
        return 'published'
      },
    }),
  ]
  const runtime = await openRuntime({ capabilities, store, ...options })
  try {
    return await work(runtime, effects)
  } finally {
    await runtime.close()
  }
}

/** A run that waits for a person, as a file. */
async function exported(
  options: RuntimeOptions = {},
  input: unknown = ['a', 'x'.repeat(3_000)],
  isStarted = true,
): Promise<Uint8Array> {
  return using(
    createMemoryRunStore(),
    async (runtime) => {
      const run = await runtime.propose(PLAN, { by: 'ann', run: 'r', input })
      await run.approve({ by: 'ann', digest: (await run.view()).request })
      if (!isStarted) return runtime.exportRun('r')
      await run.start({ by: 'ann' })
      expect(await run.outcome()).toMatchObject({ status: 'waiting' })
      return runtime.exportRun('r')
    },
    options,
  )
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work
  } catch (error) {
    if (CaissonError.is(error)) return error.code
    throw error
  }
  return 'taken'
}

describe('a run that was exported', () => {
  it('is read-only where it is imported, until somebody resumes it with exactly its point; then it goes on', async () => {
    const bytes = await exported()
    await using(createMemoryRunStore(), async (runtime, effects) => {
      const run = await runtime.importRun(bytes)
      const { status, point, frozen, requests } = await run.view()
      expect({ status, frozen, requests }).toMatchObject({ status: 'frozen', requests: 1 })
      expect(await run.outcome()).toMatchObject({ status: 'frozen', point })
      const [asked] = await run.requests()
      const decision = { request: asked?.digest as never, by: 'bob', decision: 'approve' } as const
      const refused = { code: 'confirmation_required', details: { point } }
      await expect(run.decide(decision)).rejects.toMatchObject(refused)
      await expect(run.cancel({ by: 'bob', reason: 'no' })).rejects.toMatchObject(refused)
      await expect(run.resume({ by: 'bob' })).rejects.toMatchObject(refused)
      await expect(run.resume({ by: 'bob', unseen: true })).rejects.toMatchObject(refused)
      await expect(run.resume({ by: 'bob', point: run.digest })).rejects.toMatchObject(refused)
      expect(await runtime.verify('r')).toMatchObject({ ok: true, executed: 1, point })
      expect((await run.view()).point).toBe(point)
      await run.resume({ by: 'bob', point })
      expect(await run.outcome()).toMatchObject({ status: 'waiting' })
      await run.decide(decision)
      expect(await run.outcome()).toMatchObject({ status: 'completed', output: 'published' })
      expect(effects).toHaveLength(1)
      expect(await runtime.verify('r')).toMatchObject({ ok: true, executed: 1 })
    })
  })

  it('is taken once, and not beside one of its name', async () => {
    const bytes = await exported()
    const store = createMemoryRunStore()
    await using(store, async (runtime) => {
      await runtime.importRun(bytes)
      expect(await codeOf(runtime.importRun(bytes))).toBe('already_exists')
      expect(await codeOf(runtime.importRun(bytes, { domain: 'others' }))).toBe('checkpoint_refused')
      expect(await codeOf(runtime.importRun('r' as never))).toBe('invalid_argument')
    })
  })

  it('is there whole or not at all when the store fails in the middle, and is taken the next time', async () => {
    const bytes = await exported()
    const store = createMemoryRunStore()
    for (let most = 0; ; most += 1) {
      let writes = 0
      const failing = new Proxy(store, {
        get(target, name) {
          const method = Reflect.get(target, name)
          if (typeof method !== 'function') return method
          if (!['putBlob', 'append', 'setHead', 'remove'].includes(String(name))) return method.bind(target)
          return async (...args: unknown[]) => {
            if (writes >= most) throw new Error('the disk is gone')
            writes += 1
            return method.apply(target, args)
          }
        },
      })
      const code = await using(failing, (runtime) => codeOf(runtime.importRun(bytes)))
      if (code === 'taken') break
      expect(code).toBe('store_failed')
      const after = await using(store, (runtime) => codeOf(runtime.planRun('r').then((run) => run.view())))
      // All but the head that names an image, which is written last.
      expect(after).toBe('not_found')
      expect(most).toBeLessThan(50)
    }
    await using(store, async (runtime) => {
      expect((await (await runtime.planRun('r')).view()).status).toBe('frozen')
      expect(await runtime.verify('r')).toMatchObject({ ok: true })
    })
  })

  it.each([
    ['at work', true],
    ['approved', false],
  ])(
    'leaves nothing that a run of its name goes on with, where its import was interrupted (%s)',
    async (_what, isStarted) => {
      const bytes = await exported({}, ['a'], isStarted)
      const store = createMemoryRunStore()
      const failing = new Proxy(store, {
        get(target, name) {
          const method = Reflect.get(target, name)
          if (typeof method !== 'function') return method
          return (run: string, ...more: unknown[]) => {
            if (name === 'setHead' && run === 'r') throw new Error('the process is killed')
            return method.call(target, run, ...more)
          }
        },
      })
      expect(await using(failing, (runtime) => codeOf(runtime.importRun(bytes)))).toBe('store_failed')
      expect(await store.runs()).toContain('r.imported')
      await using(store, async (runtime, effects) => {
        // The node is called as before, and does something else.
        const sum = {
          kind: 'program',
          source: 'return await prices.lookup("seven77")',
          grants: ['prices.lookup'],
        } as const
        const run = await runtime.propose({ ...PLAN, nodes: { ...PLAN.nodes, sum } }, { by: 'ann', run: 'r' })
        await run.approve({ by: 'ann', digest: (await run.view()).request })
        expect((await run.view()).status).toBe('approved')
        await run.start({ by: 'ann' })
        expect(await run.outcome()).toMatchObject({ status: 'waiting' })
        const [asked] = await run.requests()
        expect(asked?.args).toEqual({ total: 7 })
        await run.decide({ request: asked?.digest as never, by: 'bob', decision: 'approve' })
        expect(await run.outcome()).toMatchObject({ status: 'completed', output: 'published' })
        expect(effects).toHaveLength(1)
        expect(await runtime.verify('r')).toMatchObject({ ok: true, executed: 1 })
      })
    },
  )

  it.each([
    ['without keys', {}],
    ['with a key', KEYS],
  ])('is refused with its place where any byte is changed, cut off or added, %s', async (_what, options) => {
    const bytes = await exported(options, ['a'])
    await using(
      createMemoryRunStore(),
      async (runtime) => {
        const codes = new Set<string>()
        for (let at = 0; at < bytes.length; at += 1) {
          const changed = bytes.slice()
          changed[at] = (changed[at] as number) ^ (1 << (at % 8))
          codes.add(await codeOf(runtime.importRun(changed)))
          codes.add(await codeOf(runtime.importRun(bytes.subarray(0, at))))
        }
        codes.add(await codeOf(runtime.importRun(new Uint8Array([...bytes, 0]))))
        expect([...codes].sort()).toEqual(expect.arrayContaining(['corrupted', 'unsupported']))
        expect(codes).not.toContain('taken')
        await expect(runtime.importRun(bytes.subarray(0, 40))).rejects.toMatchObject({
          details: { offset: expect.any(Number) },
        })
        await runtime.importRun(bytes)
      },
      options,
    )
  })

  it('of another key, or of none, is not taken where there is a key', async () => {
    const [plain, keyed] = [await exported(), await exported(KEYS)]
    const other: RuntimeOptions = {
      checkpoints: { keys: { mac: { current: { id: 'm', bytes: new Uint8Array(32).fill(4) } } } },
    }
    for (const [bytes, options] of [
      [plain, KEYS],
      [keyed, other],
    ] as const) {
      const code = await using(createMemoryRunStore(), (runtime) => codeOf(runtime.importRun(bytes)), options)
      expect(code).toBe('checkpoint_refused')
    }
  })

  it('that was packed anew by somebody without the key is not taken, whatever its entries carry', async () => {
    const sealing = { ports: nodeCheckpointPorts, keys: KEYS.checkpoints?.keys ?? {} }
    const parts = decodeExport(await exported(KEYS), sealing)
    const repacked = encodeExport(parts, { ports: nodeCheckpointPorts })
    expect(await using(createMemoryRunStore(), (runtime) => codeOf(runtime.importRun(repacked)), KEYS)).toBe(
      'checkpoint_refused',
    )
  })
})
