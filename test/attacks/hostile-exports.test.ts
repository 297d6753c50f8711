/** Files that say that they are runs: what no store would have had is refused whole, and small files make no large host. */
import { describe, expect, it } from 'vitest'
import { createMemoryRunStore } from '../../host-bindings/store/memory-run-store.ts'
import { nodeCheckpointPorts as ports } from '../../host-bindings/system/checkpoint-ports.node.ts'
import { ByteWriter } from '../../src/base/byte-writer.ts'
import type { Digest } from '../../src/base/digest.ts'
import { CaissonError, capability, openRuntime, type Plan, type Runtime } from '../../src/entry/node.ts'
import type { RunStore } from '../../src/ports/run-store.ts'
import {
  decodeExport,
  type ExportedLog,
  type ExportedRun,
  encodeExport,
} from '../../src/runtime/plans/transfer/export-format.ts'

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
  },
  output: { $from: 'kept' },
}

async function using<T>(store: RunStore, work: (runtime: Runtime) => Promise<T>): Promise<T> {
  const long = capability({
    name: 'texts.long',
    description: 'A long text',
    effect: 'read',
    // Stands beside the journal.
    invoke: async (input) => String(input).repeat(10_000),
  })
  const runtime = await openRuntime({ store, capabilities: [long] })
  try {
    return await work(runtime)
  } finally {
    await runtime.close()
  }
}

async function complete(runtime: Runtime): Promise<void> {
  const run = await runtime.propose(PLAN, { by: 'ann', run: 'r', input: 7 })
  await run.approve({ by: 'ann', digest: (await run.view()).request })
  await run.start({ by: 'ann' })
  expect(await run.outcome()).toMatchObject({ status: 'completed' })
}

const exported: ExportedRun = decodeExport(
  await using(createMemoryRunStore(), async (runtime) => {
    await complete(runtime)
    return runtime.exportRun('r')
  }),
  { ports },
)

async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work
    return 'taken'
  } catch (error) {
    if (CaissonError.is(error)) return error.code
    throw error
  }
}

/** Changes the log of the run, or its first part. */
function changedLog(at: 0 | 1, change: (log: ExportedLog) => Partial<ExportedLog>): ExportedRun {
  const logs = exported.logs.map((log, i) => (i === at ? { ...log, ...change(log) } : log))
  return { ...exported, logs }
}

function changedHead(at: 0 | 1, change: Partial<NonNullable<ExportedLog['head']>>): ExportedRun {
  return changedLog(at, ({ head }) => ({
    head: { position: 0, chain: [], summary: new Uint8Array(0), ...head, ...change },
  }))
}

const chain = exported.logs[0]?.head?.chain ?? []
const plan = chain[0] as Digest
const onlyPlan = new Map([[plan, exported.blobs.get(plan) as Uint8Array]])
const part = (name: string, entries: readonly Uint8Array[] = [new Uint8Array(60)]): ExportedRun => ({
  ...exported,
  logs: [...exported.logs, { name, head: undefined, entries }],
})

const HOSTILE: Readonly<Record<string, ExportedRun>> = {
  'a head beyond the end of its log': changedHead(0, { position: 10_000_000 }),
  'a head of a part beyond the end of its log': changedHead(1, { position: 99 }),
  'a list that no store takes': changedHead(0, { chain: new Array(5_000).fill(plan) }),
  'a summary that no store takes': changedHead(1, { summary: new Uint8Array(100_000) }),
  'a journal that names values which are on no list': changedHead(0, { chain: [plan] }),
  'a plan that is on no list': changedHead(0, { chain: chain.slice(1) }),
  'values that are not there': { ...exported, blobs: onlyPlan },
  'values that are neither there nor on a list': { ...changedHead(0, { chain: [plan] }), blobs: onlyPlan },
  'nothing but a journal': { ...changedHead(0, { chain: [] }), blobs: new Map() },
  'no journal': changedLog(0, () => ({ entries: [] })),
  'entries that are none': part('r.values-7', [new Uint8Array(0), new Uint8Array(33)]),
  'a part without anything': part('r.values-7', []),
  'a part twice': { ...exported, logs: [...exported.logs, ...exported.logs.slice(1)] },
  'a part of another run': part('s.key'),
  'a part that is a path': part('r./../../etc/passwd'),
  'a part that says that it was imported': part('r.imported'),
}

/** With the digest that it says. */
function fileOf(write: (writer: ByteWriter) => void): Uint8Array {
  const writer = new ByteWriter()
  writer.raw(new TextEncoder().encode('caisrun\n\x01\x00\x01r\x07default'))
  write(writer)
  const body = writer.finish()
  const file = new Uint8Array(body.length + 32)
  file.set(body)
  file.set(ports.hash.sha256(body), body.length)
  return file
}

describe('a file that says that it is a run', () => {
  it.each(Object.entries(HOSTILE))(
    'and has %s is refused before anything of it is there',
    async (_what, run) => {
      const store = createMemoryRunStore()
      const bytes = encodeExport(run, { ports })
      expect(await using(store, (runtime) => codeOf(runtime.importRun(bytes)))).toBe('corrupted')
      expect(await store.runs()).toEqual([])
    },
  )

  it.each([
    ['entries', (writer: ByteWriter) => writer.raw(new Uint8Array([1, 1, 0x72, 0]))],
    ['logs', () => {}],
    ['blobs', (writer: ByteWriter) => writer.raw(new Uint8Array([0]))],
  ])('and announces as many %s as it has bytes is refused before any is made', async (_what, begin) => {
    const bytes = fileOf((writer) => {
      begin(writer)
      writer.varint(4_000_000)
      writer.raw(new Uint8Array(4_000_000))
    })
    const { importing } = await using(createMemoryRunStore(), async (runtime) => ({
      importing: await runtime.importRun(bytes).catch((error: unknown) => error),
    }))
    expect(importing).toMatchObject({ code: 'corrupted', details: { offset: expect.any(Number) } })
    expect((importing as CaissonError).details.offset).toBeLessThan(100)
  })

  it('has no more pieces than it may have when it is made', () => {
    const entries = new Array<Uint8Array>(2_000_001).fill(new Uint8Array(34))
    const large = { ...exported, logs: [{ name: 'r', head: undefined, entries }] }
    expect(() => encodeExport(large, { ports })).toThrow(/at most 2000000/)
  })

  it('and was half cut is taken with its journal, and leaves nothing that stands for one where that is interrupted', async () => {
    const store = createMemoryRunStore()
    await using(store, complete)
    const dying = stoppedAt(store, 'remove', (run) => run === 'r')
    expect(await using(dying, (runtime) => codeOf(runtime.compact('r', { by: 'carol' })))).toBe(
      'store_failed',
    )
    expect(await store.runs()).toContain('r.cut')
    const bytes = await using(store, (runtime) => runtime.exportRun('r'))
    // As files were made that had it with them.
    const cut = { name: 'r.cut', head: undefined, entries: await store.entries('r.cut', 0, 1) }
    const parts = decodeExport(bytes, { ports })
    for (const file of [bytes, encodeExport({ ...parts, logs: [...parts.logs, cut] }, { ports })]) {
      const other = createMemoryRunStore()
      const interrupted = stoppedAt(other, 'append', (run) => run === 'r')
      expect(await using(interrupted, (runtime) => codeOf(runtime.importRun(file)))).toBe('store_failed')
      await using(other, async (runtime) => {
        expect(await codeOf(runtime.planRun('r'))).toBe('not_found')
        await runtime.importRun(file)
        expect((await (await runtime.planRun('r')).view()).cut).toBeUndefined()
        expect(await runtime.verify('r')).toMatchObject({ ok: true, executed: 1 })
      })
    }
  })
})

/** The store of a process that dies before it does this. */
function stoppedAt(store: RunStore, method: keyof RunStore, isThere: (run: string) => boolean): RunStore {
  return new Proxy(store, {
    get(target, name) {
      const own = Reflect.get(target, name)
      if (typeof own !== 'function') return own
      return async (...args: unknown[]) => {
        if (name === method && isThere(String(args[0]))) throw new Error('the process is killed')
        return own.apply(target, args)
      }
    },
  })
}
