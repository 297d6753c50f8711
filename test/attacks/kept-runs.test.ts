/** Attacks on runs in a store: by their programs, by wrong answers, by rules that change, by stores that fail. */
import { describe, expect, it } from 'vitest'
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
    runtime.close()
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
  it.each(['aborted', 'lease_lost', 'not_recorded', 'diverged'])(
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
          : target[name].bind(target),
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
