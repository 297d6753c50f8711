/** States that programs of plans ended in, recorded as digests: the same when all of it is done again. */
import { afterEach, expect, it } from 'vitest'
import { createMemoryRunStore } from '../../host-bindings/store/memory-run-store.ts'
import { nodeCheckpointPorts } from '../../host-bindings/system/checkpoint-ports.node.ts'
import {
  capability,
  openRuntime,
  type Plan,
  type Runtime,
  type RuntimeOptions,
} from '../../src/entry/node.ts'
import { Journal, readJournal } from '../../src/journal/journal.ts'
import type { RunStore } from '../../src/ports/run-store.ts'
import { boundStore } from '../checkpoints/bound-store.ts'

const say = capability({
  name: 'a.say',
  description: 'Says something',
  effect: 'write',
  approve: true,
  invoke: async (input: unknown) => input,
})

const PLAN: Plan = {
  format: 'plan/1',
  name: 'p',
  version: '1',
  grants: ['a.say'],
  nodes: {
    pure: { kind: 'program', source: 'globalThis.kept = Math.random(); return 1' },
    kept: {
      kind: 'program',
      source: `globalThis.all = [Date.now(), Math.random()]
        for (const word of ['one', 'two', 'three']) all.push(await a.say({ word }))
        return all.length`,
      grants: ['a.say'],
    },
  },
  output: { $from: 'kept' },
}

const opened: Runtime[] = []
afterEach(async () => {
  for (const runtime of opened.splice(0)) await runtime.close()
})

async function open(options: RuntimeOptions): Promise<Runtime> {
  const runtime = await openRuntime({ capabilities: [say], ...options })
  opened.push(runtime)
  return runtime
}

/** Each decision in a process of its own. */
async function played(store: RunStore, options: RuntimeOptions): Promise<void> {
  const first = await open({ store, ...options })
  const run = await first.propose(PLAN, { by: 'ann', run: 'r' })
  await run.approve({ by: 'ann', digest: (await run.view()).request })
  await run.start({ by: 'ann' })
  for (let calls = 0; calls < 3; calls += 1) {
    await run.outcome()
    const next = await (await open({ store, checkpoints: { every: { calls: 1 } }, ...options })).planRun('r')
    const [request] = await next.requests()
    if (request === undefined) break
    await next.decide({ request: request.digest, by: 'ann', decision: 'approve' })
    await next.resume({ by: 'ann', unseen: true })
    const outcome = await next.outcome()
    if (outcome.status === 'completed') expect(outcome.output).toBe(5)
  }
}

it('are recorded where the runtime is told to, named by receipts, and compared by verify', async () => {
  const store = createMemoryRunStore()
  await played(store, { receipts: { states: true } })
  const runtime = await open({ store })
  const states = (await runtime.receipts('r')).map(({ receipt }) => receipt.state)
  expect(states).toHaveLength(2)
  for (const state of states) expect(state).toMatch(/^sha256:/)
  expect(await runtime.verify('r')).toMatchObject({ ok: true, executed: 2, unchecked: [] })

  for (const node of ['pure', 'kept']) {
    const anew = createMemoryRunStore()
    const options = (run: RunStore) => ({
      store: run,
      run: 'r',
      tenant: 'default',
      sealing: { ports: nodeCheckpointPorts },
    })
    const journal = await Journal.open(options(anew), await anew.lease('r', 60_000), () => {})
    await readJournal(options(store), (record) => {
      const event = structuredClone(record) as { node?: string; ran?: { state?: string } }
      if (event.node === node && event.ran?.state !== undefined)
        event.ran.state = event.ran.state.replace(/.$/, (digit) => (digit === '0' ? '1' : '0'))
      journal.add(event)
    })
    await journal.flush()
    const entries: RunStore['entries'] = (run, from, most) =>
      (run === 'r' ? anew : store).entries(run, from, most)
    const { difference } = await (await open({ store: { ...boundStore(store), entries } })).verify('r')
    expect(difference).toMatchObject({ of: 'state', node })
  }
})

it('are not recorded where nobody asked for it', async () => {
  const store = createMemoryRunStore()
  await played(store, {})
  const runtime = await open({ store })
  for (const { receipt } of await runtime.receipts('r')) expect(receipt.state).toBeUndefined()
  expect(await runtime.verify('r')).toMatchObject({ ok: true, executed: 2 })
})

it.each([5, 'text', { states: 1 }, { sign: {} }, { sign: null }, { nope: 1 }, [], null])(
  'a runtime is not opened with %j',
  async (receipts) => {
    await expect(openRuntime({ receipts: receipts as never })).rejects.toMatchObject({
      code: 'invalid_argument',
      details: { option: 'receipts' },
    })
  },
)
