/** Attacks on runs in a store: by their programs, by wrong answers, by rules that change, by stores that fail. */
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createMemoryRunStore } from '../../host-bindings/store/memory-run-store.ts'
import {
  CaissonError,
  type Capability,
  capability,
  openRuntime,
  type RunStore,
  type Runtime,
} from '../../src/entry/node.ts'

const GRANTS = ['shop.order', 'shop.price']

/** A shop that writes down what is asked of it, and falls silent when told to. */
function openShop(): { readonly done: string[]; silent: boolean; readonly capabilities: Capability[] } {
  const shop = { done: [] as string[], silent: false, capabilities: [] as Capability[] }
  const answer = async (what: string): Promise<string> => {
    shop.done.push(what)
    if (shop.silent) await new Promise<never>(() => {})
    return what
  }
  shop.capabilities.push(
    capability({
      name: 'shop.order',
      description: 'Orders',
      effect: 'write',
      invoke: (n: unknown) => answer(`order ${String(n)}`),
    }),
    capability({
      name: 'shop.price',
      description: 'Reads a price',
      effect: 'read',
      invoke: (n: unknown) => answer(`price ${String(n)}`),
    }),
  )
  return shop
}

type Shop = ReturnType<typeof openShop>

async function using<T>(
  store: RunStore,
  { capabilities }: Pick<Shop, 'capabilities'>,
  work: (runtime: Runtime) => Promise<T>,
): Promise<T> {
  const runtime = await openRuntime({ store, capabilities, checkpoints: { every: { calls: 1 } } })
  try {
    return await work(runtime)
  } finally {
    await runtime.close()
  }
}

/** Begins a run of which `calls` calls are made and never answered, and breaks it off. */
async function leaveInDoubt(store: RunStore, shop: Shop, source: string, calls: number): Promise<void> {
  const stop = new AbortController()
  shop.silent = true
  await using(store, shop, async (runtime) => {
    const running = runtime.run(source, { run: 'r', grants: GRANTS, signal: stop.signal })
    while (shop.done.length < calls) await new Promise((resolve) => setTimeout(resolve, 1))
    stop.abort()
    await running
  })
  shop.silent = false
}

/** How many entries the log has. */
const logged = async (store: RunStore): Promise<number> => (await store.entries('r', 0, 1_000)).length

describe('a kept program', () => {
  it.each(['aborted', 'lease_lost', 'machine_lost', 'not_recorded', 'diverged'])(
    'that ends with an error which says "%s" has ended, as with any other',
    async (code) => {
      const store = createMemoryRunStore()
      const shop = openShop()
      const source = `await shop.price(1); throw Object.assign(new Error('mine'), { code: '${code}' })`
      const ends = { status: 'failed', error: { code, message: 'mine' } }
      await using(store, shop, async (runtime) => {
        expect(await runtime.run(source, { run: 'r', grants: GRANTS })).toMatchObject(ends)
        const entries = await logged(store)
        expect(await runtime.resume('r', { grants: GRANTS })).toMatchObject(ends)
        expect(await runtime.repeat('r', { grants: GRANTS })).toMatchObject(ends)
        expect(await logged(store)).toBe(entries)
      })
    },
  )

  it('has every rejection that nobody handled in its outcome once, however often it is asked', async () => {
    const store = createMemoryRunStore()
    const source = `
      Promise.reject(new Error('one')); console.log('a'); await shop.price(1)
      Promise.reject(new Error('two')); console.log('b'); await shop.price(2)`
    await using(store, openShop(), async (runtime) => {
      await runtime.run(source, { run: 'r', grants: GRANTS, stopAtCall: 2 })
      const outcome = await runtime.resume('r', { grants: GRANTS })
      expect(outcome.unhandledRejections.map(({ message }) => message)).toEqual(['one', 'two'])
      expect(outcome.logs.map(({ text }) => text)).toEqual(['a', 'b'])
      expect(await runtime.resume('r', { grants: GRANTS })).toEqual(outcome)
    })
  })
})

describe('answers by hand', () => {
  it('that are none, or of no call, are refused before anything happens', async () => {
    const store = createMemoryRunStore()
    const shop = openShop()
    await leaveInDoubt(store, shop, 'return await Promise.all([shop.order(1), shop.order(2)])', 2)
    const entries = await logged(store)
    await using(store, shop, async (runtime) => {
      const refused = async (options: object, code: string): Promise<void> => {
        const resumed = runtime.resume('r', { grants: GRANTS, ...options })
        await expect(resumed, JSON.stringify(Object.keys(options))).rejects.toMatchObject({ code })
        expect(await logged(store)).toBe(entries)
      }
      const right = { id: 1, value: 'right' }
      for (const wrong of [null, 'x', {}, { id: 1 }, { id: '1', value: 1 }, { ...right, error: 1 }]) {
        await refused({ answers: [wrong] }, 'invalid_argument')
      }
      for (const wrong of [null, Symbol('1'), {}, 1.5])
        await refused({ confirm: [wrong] }, 'invalid_argument')
      await refused({ answers: [right, { id: 3, value: 1 }] }, 'unknown_call')
      await refused({ answers: [right, right] }, 'unknown_call')
      await refused({ answers: [right], confirm: [9] }, 'unknown_call')
      await refused({ confirm: ['sha256:0'] }, 'unknown_call')
      await refused({ answers: [right, { id: 2, value: () => 1 }] }, 'value_refused')
      const answers = [right, { id: 2, value: 'too' }]
      const outcome = await runtime.resume('r', { grants: GRANTS, answers, confirm: [2, 2] })
      expect(outcome).toMatchObject({ status: 'completed', value: ['right', 'too'] })
    })
    expect(shop.done).toEqual(['order 1', 'order 2'])
  })

  it('of calls that have their answer on record are refused: the recorded one counts', async () => {
    const store = createMemoryRunStore()
    const slow = capability({
      name: 'shop.slow',
      description: 'Answers late',
      effect: 'write',
      invoke: () => new Promise((resolve) => setTimeout(resolve, 50, 'recorded')),
    })
    const capabilities = [...openShop().capabilities, slow]
    const grants = [...GRANTS, 'shop.slow']
    await using(store, { capabilities }, async (runtime) => {
      const source = 'const s = shop.slow(); await shop.price(1); await shop.price(2); return s'
      const parked = await runtime.run(source, { run: 'r', grants, stopAtCall: 3 })
      expect(parked).toMatchObject({ status: 'suspended', answered: [{ id: 1, value: 'recorded' }] })
      const again = runtime.resume('r', { grants, answers: [{ id: 1, value: 'by hand' }] })
      await expect(again).rejects.toMatchObject({ code: 'unknown_call' })
      expect(await runtime.resume('r', { grants })).toMatchObject({ value: 'recorded' })
    })
  })
})

describe('rules that changed meanwhile', () => {
  it('refuse a call that was made before, and the run goes on from the checkpoints after that', async () => {
    const store = createMemoryRunStore()
    const shop = openShop()
    const source = `
      const first = await shop.price(1).catch(({ code }) => code)
      return [first, await shop.price(2), await shop.price(3)]`
    await leaveInDoubt(store, shop, source, 1)
    const strict = {
      capability: 'shop.price',
      constrain: (n: unknown) => (n === 1 ? 'not this one' : true),
    } as const
    await using(store, shop, async (runtime) => {
      const grants = ['shop.order', strict]
      expect(await runtime.resume('r', { grants, stopAtCall: 3 })).toMatchObject({ status: 'suspended' })
      const outcome = await runtime.resume('r', { grants: GRANTS })
      expect(outcome).toMatchObject({ status: 'completed', value: ['denied', 'price 2', 'price 3'] })
    })
  })
})

describe('a run that its host cannot go on with', () => {
  it('has nothing at work any more: calls are told to stop, no timer and no listener stays', async () => {
    const store = createMemoryRunStore()
    const full = new Proxy(store, {
      get: (target, name: keyof RunStore) =>
        name === 'putBlob'
          ? () => Promise.reject(new CaissonError('quota_exceeded', 'Full.'))
          : target[name]?.bind(target),
    })
    let told = false
    const slow = capability({
      name: 'shop.slow',
      description: 'Never answers',
      effect: 'write',
      invoke: (_args: unknown, { signal }) => {
        signal.addEventListener('abort', () => {
          told = true
        })
        return new Promise<never>(() => {})
      },
    })
    const { signal } = new AbortController()
    let listening = 0
    const [add, remove] = [signal.addEventListener.bind(signal), signal.removeEventListener.bind(signal)]
    Object.assign(signal, {
      addEventListener: (...args: Parameters<typeof add>) => {
        listening += 1
        add(...args)
      },
      removeEventListener: (...args: Parameters<typeof remove>) => {
        listening -= 1
        remove(...args)
      },
    })
    const capabilities = [...openShop().capabilities, slow]
    await using(full, { capabilities }, async (runtime) => {
      const source = 'const s = shop.slow(); await shop.price(1); await shop.price(2); return s'
      const running = runtime.run(source, {
        run: 'r',
        grants: [...GRANTS, 'shop.slow'],
        stopAtCall: 3,
        signal,
      })
      await expect(running).rejects.toMatchObject({ code: 'quota_exceeded' })
    })
    expect({ told, listening }).toEqual({ told: true, listening: 0 })
  })
})

describe('a store that fails at one of its operations', () => {
  afterEach(() => {
    vi.useRealTimers()
  })

  const SOURCE = `
    const said = []
    for (let i = 0; i < 3; i++) said.push(await shop.order(i), await shop.price(i))
    return said.join()`
  const VALUE = 'order 0,price 0,order 1,price 1,order 2,price 2'

  const FAULTS: Readonly<Record<string, (work: () => Promise<unknown>) => Promise<unknown>>> = {
    'instead of it': () => Promise.reject(new CaissonError('store_failed', 'No.')),
    'after it': async (work) => {
      await work()
      throw new CaissonError('store_failed', 'No.')
    },
    'with an error of its own': () => Promise.reject(new TypeError('not of ours')),
    'by throwing': () => {
      throw new Error('at once')
    },
  }

  /** A store whose operation `name` goes wrong the `nth` time. */
  function failing(
    store: RunStore,
    name: keyof RunStore,
    nth: number,
    fault: (work: () => Promise<unknown>) => Promise<unknown>,
  ): { readonly store: RunStore; readonly happened: () => boolean } {
    let times = 0
    const proxy = new Proxy(store, {
      get: (target, asked: keyof RunStore) => {
        const work = target[asked]?.bind(target) as (...args: unknown[]) => Promise<unknown>
        return (...args: unknown[]) => {
          if (asked === name) times += 1
          return asked === name && times === nth ? fault(() => work(...args)) : work(...args)
        }
      },
    })
    return { store: proxy, happened: () => times >= nth }
  }

  const coded = async (
    outcome: Promise<unknown>,
  ): Promise<{ readonly status?: string; readonly inDoubt?: readonly number[] }> => {
    try {
      return (await outcome) as { status: string }
    } catch (error) {
      if (!CaissonError.is(error)) throw error
      return {}
    }
  }

  for (const [how, fault] of Object.entries(FAULTS)) {
    it.each(['putBlob', 'head', 'setHead', 'append', 'entries', 'lease'] as const)(
      `${how}: %s, each time in turn; nothing is done twice, and nothing is lost`,
      async (name) => {
        for (let nth = 1; ; nth += 1) {
          let now = 0
          const whole = createMemoryRunStore({ clock: { now: () => now, monotonic: () => now } })
          const shop = openShop()
          const broken = failing(whole, name, nth, fault)
          let end = await using(broken.store, shop, (runtime) =>
            coded(runtime.run(SOURCE, { run: 'r', grants: GRANTS })),
          )
          for (let lives = 0; end.status !== 'completed' && lives < 3; lives += 1) {
            now += 60_000 // a lease that nobody got runs out
            const answers = (end.inDoubt ?? []).map((id) => ({ id, value: `order ${(id - 1) / 2}` }))
            const begun = (await whole.runs()).length > 0
            end = await using(whole, shop, (runtime) =>
              begun
                ? runtime.resume('r', { grants: GRANTS, answers })
                : runtime.run(SOURCE, { run: 'r', grants: GRANTS }),
            )
          }
          expect(end, `${name} ${nth}`).toMatchObject({ status: 'completed', value: VALUE })
          const orders = shop.done.filter((what) => what.startsWith('order'))
          expect(new Set(orders).size, `${name} ${nth}`).toBe(orders.length)
          if (!broken.happened()) break
        }
      },
    )
  }

  it('keeps the outcome of a run whose checkpoint was written and not confirmed', async () => {
    const { store } = failing(createMemoryRunStore(), 'setHead', 2, FAULTS['after it'] as never)
    const outcome = await using(store, openShop(), (runtime) =>
      runtime.run(SOURCE, { run: 'r', grants: GRANTS }),
    )
    expect(outcome).toMatchObject({ status: 'completed', value: VALUE })
  })

  it.each(['putBlob', 'head', 'setHead', 'append', 'entries', 'lease'] as const)(
    'by never answering again: %s; the run comes to an end that says so',
    async (name) => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
      const { store, happened } = failing(createMemoryRunStore(), name, 1, () => new Promise(() => {}))
      let end: unknown
      const running = using(store, openShop(), (runtime) =>
        coded(runtime.run(SOURCE, { run: 'r', grants: GRANTS, limits: { wallMs: 500_000 } })),
      ).then((outcome) => {
        end = outcome
      })
      while (!happened()) await new Promise((resolve) => setImmediate(resolve))
      for (let i = 0; end === undefined && i < 10_000; i += 1) {
        await vi.advanceTimersByTimeAsync(1_000)
        await new Promise((resolve) => setImmediate(resolve))
      }
      await running
      expect(end).toBeDefined()
    },
  )
})
