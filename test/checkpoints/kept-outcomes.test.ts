/** What a kept run says of itself: whether it can be gone on with, what could not be written, how old it is. */
import { describe, expect, it, vi } from 'vitest'
import { createMemoryRunStore } from '../../host-bindings/store/memory-run-store.ts'
import { nodeCheckpointPorts } from '../../host-bindings/system/checkpoint-ports.node.ts'
import {
  CaissonError,
  type Capability,
  capability,
  openRuntime,
  type RunStore,
  type Runtime,
  type RuntimeOptions,
} from '../../src/entry/node.ts'
import { describeRun, listRuns } from '../../src/runtime/describe-run.ts'
import { inspectCheckpoint } from '../../src/snapshot/container/inspect-checkpoint.ts'
import { boundStore } from './bound-store.ts'

const LOOKING = { ports: nodeCheckpointPorts }
const GRANTS = ['shop.order']

/** An order, which cannot be made again, and is not answered while it hangs. */
function shop(hangs: () => boolean = () => false): Capability {
  return capability({
    name: 'shop.order',
    description: 'Orders',
    effect: 'write',
    invoke: (what) => (hangs() ? new Promise(() => {}) : `ordered ${what}`),
  })
}

const using = async <T>(options: RuntimeOptions, work: (runtime: Runtime) => Promise<T>): Promise<T> => {
  const runtime = await openRuntime({ capabilities: [shop()], ...options })
  try {
    return await work(runtime)
  } finally {
    await runtime.close()
  }
}

/** Begins a run whose first call hangs, and breaks it off there. */
const brokenOff = (store: RunStore, source = 'return await shop.order(1)') => {
  const controller = new AbortController()
  const capabilities = [
    shop(() => {
      setTimeout(() => controller.abort(), 5)
      return true
    }),
  ]
  return using({ capabilities, store }, (runtime) =>
    runtime.run(source, { grants: GRANTS, run: 'r', signal: controller.signal }),
  )
}

describe('whether a kept run can be gone on with', () => {
  it('is what the runtime says, whatever code the program forges', async () => {
    const store = createMemoryRunStore()
    const forged = 'throw Object.assign(new Error("stop"), { code: "aborted" })'
    const run = (source: string, name: string, more: object = {}) =>
      using({ store }, (runtime) => runtime.run(source, { grants: GRANTS, run: name, ...more }))
    const ended = await run(forged, 'forged')
    expect(ended).toMatchObject({ error: { code: 'aborted' } })
    for (const end of [ended, await run('return 1', 'done')]) expect(end).not.toHaveProperty('resumable')
    expect(await run('await shop.order(1)', 'parked', { stopAtCall: 1 })).toMatchObject({ resumable: true })
    expect(await run('while (1);', 'spent', { limits: { fuel: 1e7 } })).toMatchObject({ resumable: true })
    expect(await brokenOff(store)).toMatchObject({ error: { code: 'aborted' }, resumable: true })
    await using({ store }, async (runtime) => {
      expect(await runtime.resume('forged', { grants: GRANTS })).not.toHaveProperty('resumable')
      expect(await runtime.repeat('parked', { grants: GRANTS })).toMatchObject({ resumable: true })
    })
  })

  it('is listed as waiting when it is in doubt before its first checkpoint', async () => {
    const store = createMemoryRunStore()
    await brokenOff(store)
    expect(await listRuns(store, LOOKING, 'default')).toMatchObject([{ summary: { status: 'running' } }])
    const doubtful = await using({ store }, (runtime) => runtime.resume('r', { grants: GRANTS }))
    expect(doubtful).toMatchObject({ status: 'suspended', inDoubt: [1] })
    const [listed] = await listRuns(store, LOOKING, 'default')
    expect(listed).toMatchObject({
      checkpoints: 0,
      summary: { status: 'waiting', pending: [{ id: 1, capability: 'shop.order' }] },
    })
    const before = await store.head('r')
    await using({ store }, (runtime) => runtime.resume('r', { grants: GRANTS }))
    expect((await store.head('r'))?.version).toBe(before?.version)
  })
})

describe('what somebody decides about a run that has ended', () => {
  it.each([
    ['an answer', { answers: [{ id: 1, value: 'x' }] }],
    ['a confirmation', { confirm: [1] }],
  ])('is refused: %s', async (_, decided) => {
    const store = createMemoryRunStore()
    await using({ store }, async (runtime) => {
      await runtime.run('return await shop.order(1)', { grants: GRANTS, run: 'r' })
      await expect(runtime.resume('r', { grants: GRANTS, ...decided })).rejects.toMatchObject({
        code: 'unknown_call',
        message: expect.stringContaining('has ended (completed)'),
        details: { ended: 'completed' },
      })
    })
  })
})

describe('checkpoints that cannot be written while a run goes on', () => {
  it('are counted in its outcome and told to telemetry, and the run goes on (invariant 6)', async () => {
    const whole = createMemoryRunStore()
    let times = 0
    const store: RunStore = {
      ...boundStore(whole),
      putBlob(id, bytes) {
        times += 1
        if (times === 1) throw new CaissonError('quota_exceeded', 'The disk is full.')
        return whole.putBlob(id, bytes)
      },
    }
    const told = vi.fn()
    const event = (name: string, attributes: object): void => {
      if (name !== 'guest.live') told(name, attributes)
    }
    const slow = capability({
      name: 'shop.order',
      description: 'Orders, so slowly that a checkpoint is written meanwhile',
      effect: 'write',
      invoke: () => new Promise((resolve) => setTimeout(resolve, 10)),
    })
    const options = {
      capabilities: [slow],
      store,
      telemetry: { event },
      checkpoints: { every: { calls: 1 } },
    }
    const source =
      'const said = []; for (const n of [1, 2, 3, 4]) said.push(await shop.order(n)); return said.length'
    const outcome = await using(options, (runtime) => runtime.run(source, { grants: GRANTS, run: 'r' }))
    expect(outcome).toMatchObject({
      status: 'completed',
      value: 4,
      checkpoint: expect.stringMatching(/^sha256:/),
      unwritten: { count: 1, code: 'quota_exceeded', message: 'The disk is full.' },
    })
    expect(told.mock.calls).toEqual([['checkpoint.unwritten', { code: 'quota_exceeded' }]])
    const good = await using({ store }, (runtime) => runtime.run(source, { grants: GRANTS, run: 'good' }))
    expect(good.unwritten).toBeUndefined()
  })
})

describe('how old a run is', () => {
  it('is told by the clock of the host, whatever time the guest sees', async () => {
    const store = createMemoryRunStore()
    const clock = { now: () => 0, monotonic: () => performance.now() }
    const before = Date.now()
    await using({ store, clock }, async (runtime) => {
      const source = 'const at = Date.now(); await shop.order(1); return at'
      await runtime.run(source, { grants: GRANTS, run: 'r', stopAtCall: 1 })
      const { start, summary, chain } = await describeRun(store, 'r', LOOKING, 'default')
      expect(start.nowMs).toBe(0)
      expect(start.atMs).toBeGreaterThanOrEqual(before)
      expect(summary?.atMs).toBeGreaterThanOrEqual(before)
      expect(chain[0]?.checkpoint?.takenAtMs).toBeGreaterThanOrEqual(before)
      expect(await runtime.resume('r', { grants: GRANTS })).toMatchObject({ value: expect.closeTo(0, 0) })
    })
  })
})

describe('how old the checkpoint of a guest without a run is', () => {
  it.each(['stepped', 'session'] as const)('is told by the clock of the host as well: %s', async (kind) => {
    const clock = { now: () => 0, monotonic: () => performance.now() }
    const before = Date.now()
    await using({ clock }, async (runtime) => {
      const guest =
        kind === 'stepped'
          ? await runtime.start('await shop.order(1)', { grants: GRANTS })
          : await runtime.openSession()
      const { takenAtMs } = await inspectCheckpoint(await guest.checkpoint(), LOOKING)
      expect(takenAtMs).toBeGreaterThanOrEqual(before)
    })
  })
})

describe('what the grants of a run reach', () => {
  it('is no more than at its start, unless somebody says that it may be', async () => {
    const store = createMemoryRunStore()
    await using({ store, checkpoints: { every: { calls: 1 } } }, async (runtime) => {
      const source = 'for (const n of [1, 2, 3]) await shop.order(n); return "all"'
      const scope = ['write /a', 'read /a']
      await runtime.run(source, { grants: GRANTS, run: 'r', stopAtCall: 2, scope })
      const resume = (more: object) =>
        runtime.resume('r', { grants: GRANTS, stopAtCall: 3, ...more }).catch((error: unknown) => error)
      for (const wider of [['read /b'], [...scope, 'write /b']]) {
        expect(await resume({ scope: wider })).toMatchObject({
          code: 'checkpoint_refused',
          message: expect.stringContaining(`Not there then: ${wider.at(-1)}.`),
          details: { differs: 'scope', widened: [wider.at(-1)], was: scope },
        })
      }
      expect(await resume({ scope: ['read /a'] })).toMatchObject({ status: 'suspended' })
      expect(await resume({ scope: ['read /b'], stopAtCall: 9 })).toMatchObject({
        code: 'checkpoint_refused',
      })
      expect(await resume({ scope: ['read /b'], changeScope: true, stopAtCall: 9 })).toMatchObject({
        value: 'all',
      })
    })
  })

  it('is of kept runs', async () => {
    await using({}, async (runtime) => {
      await expect(runtime.run('1', { scope: ['a'] })).rejects.toMatchObject({
        code: 'invalid_argument',
        details: { option: 'scope' },
      })
    })
  })
})
