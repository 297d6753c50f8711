/** Runs in a store: interrupted anywhere, and gone on with elsewhere. */
import { describe, expect, it } from 'vitest'
import { createMemoryRunStore } from '../../host-bindings/store/memory-run-store.ts'
import {
  CaissonError,
  type Capability,
  capability,
  type Outcome,
  openRuntime,
  type RunStore,
  type Runtime,
  type RuntimeOptions,
} from '../../src/entry/node.ts'
import { boundStore } from './bound-store.ts'

const SOURCE = `
const items = []
for (let i = 0; i < 8; i++) {
  const { price, tags } = await shop.price({ sku: 'p' + i })
  items.push([price, Object.keys(tags).join(), clock.tick(), Math.random(), Date.now()])
  if (i % 3 === 2) items.push(await shop.order({ sku: 'p' + i, price }))
  try { await shop.broken({ i }) } catch (error) { items.push(error.code, error.details) }
}
console.log('done', items.length)
return items
`
const GRANTS = ['shop.price', 'shop.order', 'shop.broken', 'clock.tick']

/** A world that counts what is done to it, and can fall silent for good at a call. */
function openWorld(silentAfter = Number.POSITIVE_INFINITY) {
  const done: string[] = []
  let calls = 0
  let ticks = 0
  const note = (what: string): undefined | Promise<never> => {
    calls += 1
    if (calls > silentAfter) return new Promise<never>(() => {})
    done.push(what)
  }
  const capabilities: Capability[] = [
    capability({
      name: 'shop.price',
      description: 'Reads a price',
      effect: 'read',
      invoke: async (args: unknown) => {
        await note(`price ${JSON.stringify(args)}`)
        return { price: 5, tags: { z: 1, a: 2 } }
      },
    }),
    capability({
      name: 'shop.order',
      description: 'Orders',
      effect: 'write',
      invoke: async (args: unknown, { idempotencyKey }) => {
        await note(`order ${JSON.stringify(args)} ${idempotencyKey}`)
        return 'ordered'
      },
    }),
    capability({
      name: 'shop.broken',
      description: 'Fails with details',
      effect: 'read',
      expose: ['quota_exceeded'],
      invoke: async () => {
        await note('broken')
        throw new CaissonError('quota_exceeded', 'No more.', { details: { left: 0 } })
      },
    }),
    capability({
      name: 'clock.tick',
      description: 'Counts',
      effect: 'read',
      sync: true,
      invoke: () => {
        ticks += 1
        return ticks
      },
    }),
  ]
  return { capabilities, done }
}

/** A clock that stands still where it is told to. */
const clock = { now: () => Date.UTC(2026, 0, 1), monotonic: () => performance.now() }

const using = async <T>(options: RuntimeOptions, work: (runtime: Runtime) => Promise<T>): Promise<T> => {
  const runtime = await openRuntime({ clock, ...options })
  try {
    return await work(runtime)
  } finally {
    await runtime.close()
  }
}

const straightly = (): Promise<Outcome> =>
  using({ capabilities: openWorld().capabilities }, (runtime) =>
    runtime.run(SOURCE, { grants: GRANTS, seed: 1, stateDigest: true }),
  )

const comparable = (outcome: Outcome): unknown => {
  const { usage, run: _, checkpoint: __, log: _____, ...rest } = outcome
  const { wallMs: ___, idleMs: ____, ...counted } = usage
  return { ...rest, usage: counted }
}

/** What a process that dies leaves: its lease runs out at once. */
const abandoned = (store: RunStore): RunStore => ({
  ...boundStore(store),
  async lease(run, _ttl) {
    const lease = await store.lease(run, 60_000)
    return { ...lease, held: () => true, renew: () => Promise.resolve(), release: () => lease.release() }
  },
})

/** Begins a run that hangs at its call number `at`, and breaks it off there. */
const interrupted = async (
  store: RunStore,
  at: number,
  options: Partial<RuntimeOptions> = {},
): Promise<readonly string[]> => {
  const { capabilities, done } = openWorld(at)
  const stop = new AbortController()
  const outcome = await using({ capabilities, store, ...options }, async (runtime) => {
    const running = runtime.run(SOURCE, { grants: GRANTS, seed: 1, run: 'r', signal: stop.signal })
    const timer = setInterval(() => {
      if (done.length >= at) setTimeout(() => stop.abort(), 5)
    }, 1)
    try {
      return await running
    } finally {
      clearInterval(timer)
    }
  })
  if (at < 19) expect(outcome).toMatchObject({ status: 'failed', error: { code: 'aborted' } })
  return done
}

describe('a kept run', () => {
  it('ends as one that is not kept, and gives its outcome again', async () => {
    const store = createMemoryRunStore()
    const { capabilities, done } = openWorld()
    const straight = await straightly()
    const [kept, again] = await using({ capabilities, store }, async (runtime) => [
      await runtime.run(SOURCE, { grants: GRANTS, seed: 1, stateDigest: true, run: 'r' }),
      await runtime.resume('r', { grants: GRANTS }),
    ])
    expect(comparable(kept as Outcome)).toEqual(comparable(straight))
    expect(kept).toMatchObject({ run: 'r', checkpoint: expect.stringMatching(/^sha256:/) })
    expect(again).toMatchObject({
      status: 'completed',
      value: straight.status === 'completed' && straight.value,
    })
    expect(done).toHaveLength(18)
  })

  it.each([
    ['after every call', { calls: 1 }],
    ['now and then', { calls: 5 }],
    ['never', { calls: 1e6, ms: 1e9, bytes: 1e9 }],
  ])('goes on from any call with nothing done twice, checkpointed %s', async (_, every) => {
    const straight = await straightly()
    for (let at = 0; at < 18; at += 1) {
      const store = createMemoryRunStore()
      const before = await interrupted(abandoned(store), at, { checkpoints: { every } })
      const { capabilities, done } = openWorld()
      const hangs = before.length === at
      expect(hangs).toBe(true)
      const outcome = await using({ capabilities, store, checkpoints: { every } }, async (runtime) => {
        const first = await runtime.resume('r', { grants: GRANTS.toReversed(), stateDigest: true })
        if (first.status !== 'suspended') return first
        // The order hangs: nobody knows whether it went out. Somebody says that it did not.
        expect(first.pending).toMatchObject([{ id: first.inDoubt[0], capability: 'shop.order' }])
        expect(done).toEqual([])
        return runtime.resume('r', { grants: GRANTS, confirm: first.inDoubt, stateDigest: true })
      })
      // The second clock of ticks starts anew, which the guest can see; everything before is as it was.
      const values = (of: Outcome): unknown[] => (of.status === 'completed' ? (of.value as unknown[]) : [])
      const ticksAside = (one: unknown): unknown => (Array.isArray(one) ? one.toSpliced(2, 1) : one)
      expect(values(outcome).map(ticksAside)).toEqual(values(straight).map(ticksAside))
      expect([...before, ...done].filter((what) => what.startsWith('order'))).toHaveLength(2)
      expect(before.length + done.length).toBe(18)
      expect(outcome.logs.map(({ text }) => text)).toEqual(straight.logs.map(({ text }) => text))
    }
  })

  it('has the digest of an uninterrupted one when the world answers alike', async () => {
    const source = `let n = 0; for (let i = 0; i < 12; i++) n += (await shop.price({ i })).price; return n`
    const grants = ['shop.price']
    const straight = await using({ capabilities: openWorld().capabilities }, (runtime) =>
      runtime.run(source, { grants, seed: 1, stateDigest: true }),
    )
    const store = createMemoryRunStore()
    const first = openWorld()
    await using(
      { capabilities: first.capabilities, store, checkpoints: { every: { calls: 3 } } },
      (runtime) => runtime.run(source, { grants, seed: 1, run: 'r', stopAtCall: 8 }),
    )
    const second = openWorld()
    const outcome = await using({ capabilities: second.capabilities, store }, (runtime) =>
      runtime.resume('r', { grants, stateDigest: true }),
    )
    expect(comparable(outcome)).toEqual(comparable(straight))
    expect(first.done.length + second.done.length).toBe(12)
  })

  it('is suspended before a call is made, and makes it when resumed', async () => {
    const store = createMemoryRunStore()
    const { capabilities, done } = openWorld()
    await using({ capabilities, store }, async (runtime) => {
      const outcome = await runtime.run('return await shop.order({ n: 1 })', {
        grants: ['shop.order'],
        run: 'r',
        stopAtCall: 1,
      })
      expect(outcome).toMatchObject({ status: 'suspended', pending: [{ id: 1, capability: 'shop.order' }] })
      expect(done).toEqual([])
      expect(await runtime.resume('r', { grants: ['shop.order'] })).toMatchObject({ value: 'ordered' })
      expect(done).toHaveLength(1)
    })
  })

  it('takes an answer by hand for a call in doubt, through the gate', async () => {
    const store = createMemoryRunStore()
    const at = 5 // the first order hangs
    await interrupted(abandoned(store), at)
    const { capabilities, done } = openWorld()
    await using({ capabilities, store }, async (runtime) => {
      const first = await runtime.resume('r', { grants: GRANTS })
      expect(first).toMatchObject({ status: 'suspended' })
      const [id] = (first as Extract<Outcome, { status: 'suspended' }>).inDoubt
      await expect(
        runtime.resume('r', { grants: GRANTS, answers: [{ id: 999, value: 1 }] }),
      ).rejects.toMatchObject({
        code: 'unknown_call',
      })
      const outcome = await runtime.resume('r', {
        grants: GRANTS,
        answers: [{ id: id as number, value: 'by hand' }],
      })
      expect(outcome).toMatchObject({ status: 'completed' })
      expect((outcome as { value: unknown[] }).value).toContain('by hand')
      expect(done.filter((what) => what.startsWith('order'))).toHaveLength(1)
    })
  })

  it('keeps budgets, whatever is restored: the log counts, not the checkpoint', async () => {
    const source =
      'let n = 0; for (;;) { try { await shop.price({}); n += 1 } catch (error) { return [n, error.code] } }'
    const grants = [{ capability: 'shop.price', calls: 5 }]
    const store = createMemoryRunStore()
    const { capabilities } = openWorld()
    await using({ capabilities, store, checkpoints: { every: { calls: 1e6, ms: 1e9 } } }, async (runtime) => {
      await runtime.run(source, { grants, run: 'r', stopAtCall: 4 })
      expect(await runtime.resume('r', { grants })).toMatchObject({ value: [5, 'budget_exhausted'] })
    })
  })

  it('goes on with more fuel after it ran out of it, and only then', async () => {
    const source = 'const { price } = await shop.price({}); for (let i = 0; i < 1e5; i++); return price'
    const grants = ['shop.price']
    const store = createMemoryRunStore()
    const { capabilities, done } = openWorld()
    await using({ capabilities, store }, async (runtime) => {
      const options = { grants, run: 'r', limits: { fuel: 2_000_000 } }
      expect(await runtime.run(source, options)).toMatchObject({ status: 'exhausted', limit: 'fuel' })
      expect(await runtime.resume('r', { grants })).toMatchObject({ status: 'exhausted', limit: 'fuel' })
      expect(await runtime.resume('r', { grants, addFuel: 1 })).toMatchObject({ status: 'exhausted' })
      expect(await runtime.resume('r', { grants, addFuel: 50_000_000 })).toMatchObject({ value: 5 })
      expect(done).toHaveLength(1)
    })
  })

  it('is refused to the wrong tenant, principal and grants, and when somebody else holds it', async () => {
    const store = createMemoryRunStore()
    const { capabilities } = openWorld()
    await using({ capabilities, store }, async (runtime) => {
      const options = { grants: ['shop.price'], run: 'r', stopAtCall: 1, domain: 'a', principal: 'ann' }
      await runtime.run('return (await shop.price({})).price', options)
      const resume = (change: object): Promise<Outcome> =>
        runtime.resume('r', { grants: ['shop.price'], domain: 'a', principal: 'ann', ...change })
      await expect(resume({ domain: 'b' })).rejects.toMatchObject({ code: 'checkpoint_refused' })
      await expect(resume({ principal: 'bob' })).rejects.toMatchObject({ code: 'checkpoint_refused' })
      await expect(resume({ grants: [] })).rejects.toMatchObject({ code: 'checkpoint_refused' })
      await expect(resume({ grants: GRANTS })).rejects.toMatchObject({ code: 'checkpoint_refused' })
      const lease = await store.lease('r', 1_000)
      await expect(resume({})).rejects.toMatchObject({ code: 'store_conflict' })
      await lease.release()
      expect(await resume({})).toMatchObject({ value: 5 })
      await expect(runtime.run('1', options)).rejects.toMatchObject({ code: 'already_exists' })
      await expect(runtime.resume('other', {})).rejects.toMatchObject({ code: 'not_found' })
    })
  })

  it('is refused with options that would be ignored or never come true', async () => {
    const { capabilities, done } = openWorld()
    for (const checkpoints of [
      { every: { calls: 0 } },
      { every: { cals: 2 } },
      { every: 'x' },
      { evry: {} },
    ]) {
      await expect(openRuntime({ checkpoints: checkpoints as never })).rejects.toMatchObject({
        code: 'invalid_argument',
      })
    }
    await using({ capabilities }, async (runtime) => {
      const options = { grants: ['shop.order'], stopAtCall: 1 }
      await expect(runtime.run('await shop.order({})', options)).rejects.toMatchObject({
        code: 'invalid_argument',
        details: { option: 'stopAtCall' },
      })
      expect(done).toEqual([])
    })
  })

  it('says in every thread which grants differ', async () => {
    const { capabilities } = openWorld()
    await using({ capabilities }, async (runtime) => {
      const guest = await runtime.start('await shop.price({})', { grants: ['shop.price'] })
      const bytes = await guest.checkpoint()
      for (const thread of ['host', 'worker'] as const) {
        await expect(runtime.restore(bytes, { grants: ['shop.order'], thread })).rejects.toMatchObject({
          code: 'checkpoint_refused',
          details: { missing: ['shop.price'], added: ['shop.order'] },
        })
      }
      guest.dispose()
      await expect(guest.invoke(1)).rejects.toThrow('The guest has ended (failed).')
    })
  })

  it('is resumed by one of two who try at once', async () => {
    const store = createMemoryRunStore()
    const { capabilities, done } = openWorld()
    await using({ capabilities, store }, async (runtime) => {
      await runtime.run('return await shop.order({})', { grants: ['shop.order'], run: 'r', stopAtCall: 1 })
      const both = await Promise.allSettled([1, 2].map(() => runtime.resume('r', { grants: ['shop.order'] })))
      const won = both.filter(({ status }) => status === 'fulfilled')
      const lost = both.filter((one) => one.status === 'rejected')
      expect([won.length, lost.length]).toEqual([1, 1])
      expect(lost[0]?.reason).toMatchObject({ code: 'store_conflict' })
      expect(done).toHaveLength(1)
    })
  })

  it('keeps nothing readable in the store when it is secret', async () => {
    const store = createMemoryRunStore()
    const { capabilities } = openWorld()
    const keys = {
      mac: { current: { id: 'm', bytes: new Uint8Array(32).fill(1) } },
      encryption: { current: { id: 'e', bytes: new Uint8Array(32).fill(2) } },
    }
    const source =
      'const hush = "hush-hush-hush"; await shop.price({ hush }); return await shop.order({ hush })'
    const options = {
      grants: ['shop.price', 'shop.order'],
      run: 'r',
      label: 'secret' as const,
      stopAtCall: 2,
    }
    await using({ capabilities, store }, async (runtime) => {
      await expect(runtime.run(source, options)).rejects.toMatchObject({ code: 'encryption_required' })
      expect(await store.runs()).toEqual([])
    })
    await using({ capabilities, store, checkpoints: { keys } }, async (runtime) => {
      await runtime.run(source, options)
      const head = await store.head('r')
      const blob = await store.getBlob(head?.chain[0] as never)
      const all = Buffer.concat([...(await store.entries('r', 0, 100)), blob as Uint8Array])
      expect(all.length).toBeGreaterThan(1_000)
      expect(all.includes('hush')).toBe(false)
    })
    await using({ capabilities, store }, async (runtime) => {
      await expect(runtime.resume('r', { grants: options.grants })).rejects.toMatchObject({
        code: 'checkpoint_refused',
      })
    })
    await using({ capabilities, store, checkpoints: { keys } }, async (runtime) => {
      expect(await runtime.resume('r', { grants: options.grants })).toMatchObject({ value: 'ordered' })
    })
  })
})
