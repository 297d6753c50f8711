/**
 * Runs that two want: a lease that runs out in a long turn, two runtimes at once, lives between which clocks jumped or
 * limits shrank. One goes on; nothing is done twice, and nothing that was used up comes back.
 */
import { describe, expect, it } from 'vitest'
import { createMemoryRunStore } from '../../host-bindings/store/memory-run-store.ts'
import { capability, type Outcome, type RunStore } from '../../src/entry/node.ts'
import { boundStore } from '../checkpoints/bound-store.ts'
import { type Bank, endOf, openBank } from './bank.ts'

/** A store whose leases run out when the test says so, and what a turn of the guest does by calling `world.spin`. */
interface World {
  readonly store: RunStore
  readonly bank: Bank
  pass(ms: number): void
  inTurn: () => void
}

function openWorld(): World {
  let now = 0
  const world: World = {
    store: createMemoryRunStore({ clock: { now: () => now, monotonic: () => now } }),
    pass: (ms: number): void => {
      now += ms
    },
    inTurn: (): void => {},
    bank: openBank(
      capability({
        name: 'world.spin',
        description: 'Stands for a turn that takes long: nothing else of the host happens meanwhile',
        effect: 'read',
        sync: true,
        invoke: () => world.inTurn(),
      }),
    ),
  }
  return world
}

const SPINS = 'const a = await bank.pay(1); world.spin(); const b = await bank.pay(2); return [a, b]'

describe('a lease that runs out in one long turn', () => {
  it('is prolonged after it, where nobody came', async () => {
    const world = openWorld()
    const runtime = await world.bank.open(world.store)
    world.inTurn = () => world.pass(3_600_000)
    const outcome = await runtime.run(SPINS, { run: 'r', grants: world.bank.grants })
    expect(outcome).toMatchObject({ status: 'completed', value: [1, 2] })
    expect(world.bank.paid).toEqual([1, 2])
  })

  it('and was taken by another one: the late one neither calls nor writes any more', async () => {
    const world = openWorld()
    const { bank, store } = world
    const [late, next] = [await bank.open(store), await bank.open(store)]
    let taking: Promise<Outcome> | undefined
    world.inTurn = () => {
      if (taking !== undefined) return
      world.pass(3_600_000)
      taking = next.resume('r', { grants: bank.grants })
    }
    expect(await endOf(late.run(SPINS, { run: 'r', grants: bank.grants }))).toMatch(/lease_lost|not_recorded/)
    expect(await taking).toMatchObject({ status: 'completed', value: [1, 2] })
    expect(bank.paid).toEqual([1, 2])
    expect(await late.resume('r', { grants: bank.grants })).toMatchObject({ value: [1, 2] })
  })
})

describe('two that resume one run at once', () => {
  it.each([2, 5])('of %i runtimes exactly one goes on, and the others are told', async (count) => {
    const store = createMemoryRunStore()
    const bank = openBank()
    const { grants } = bank
    const runtimes = await Promise.all(Array.from({ length: count }, () => bank.open(store)))
    const source =
      'const said = []; for (let i = 0; i < 4; i++) said.push(await bank.pay(i)); return said.join()'
    await runtimes[0]?.run(source, { run: 'r', grants, stopAtCall: 2 })
    const ends = await Promise.all(runtimes.map((runtime) => endOf(runtime.resume('r', { grants }))))
    expect(ends.sort()).toEqual(['completed', ...new Array(count - 1).fill('store_conflict')])
    expect(bank.paid).toEqual([0, 1, 2, 3])
  })

  it('as one and the same runtime, also while the first one ends', async () => {
    const store = createMemoryRunStore()
    const bank = openBank()
    const { grants } = bank
    const runtime = await bank.open(store)
    await runtime.run('return await bank.pay(1)', { run: 'r', grants, stopAtCall: 1 })
    const first = runtime.resume('r', { grants })
    const others: Promise<string>[] = []
    for (let i = 0; i < 60; i += 1) {
      others.push(endOf(runtime.resume('r', { grants })))
      await Promise.resolve()
    }
    expect(await first).toMatchObject({ value: 1 })
    for (const end of await Promise.all(others)) expect(end).toMatch(/store_conflict|completed/)
    expect(bank.paid).toEqual([1])
  })
})

describe('what a run has used up', () => {
  const LOOKS = `
    const said = []
    for (let i = 0; i < 4; i++) said.push(await bank.look(i).catch((e) => e.code))
    return [said.join(), Date.now()]`
  const DAY = 86_400_000
  const EPOCH = Date.UTC(2026, 0, 1)

  const lives = async (times: readonly number[], grants: readonly object[]): Promise<Outcome> => {
    const store = createMemoryRunStore()
    let outcome: Outcome | undefined
    for (const [i, now] of times.entries()) {
      const runtime = await openBank().open(store, {
        clock: { now: () => now, monotonic: () => performance.now() },
      })
      const options = { grants: grants as never, ...(i < times.length - 1 && { stopAtCall: i + 2 }) }
      outcome =
        i === 0 ? await runtime.run(LOOKS, { run: 'r', ...options }) : await runtime.resume('r', options)
    }
    return outcome as Outcome
  }

  it('does not come back when the clock is set back between lives; time in the guest never goes back', async () => {
    const grants = [{ capability: 'bank.look', rate: { calls: 2, perMs: DAY } }]
    const outcome = await lives([EPOCH + DAY, EPOCH, 0], grants)
    const [said, now] = (outcome as { value: [string, number] }).value
    expect(said).toBe('0,1,rate_limited,rate_limited')
    expect(now).toBeGreaterThanOrEqual(EPOCH + DAY)
  })

  it('of rates comes back with the time that went by, and budgets never do', async () => {
    const rated = [{ capability: 'bank.look', rate: { calls: 1, perMs: DAY } }]
    const byDay = await lives([EPOCH, EPOCH + 2 * DAY, EPOCH + 4 * DAY], rated)
    expect((byDay as { value: [string] }).value[0]).toBe('0,1,2,rate_limited')
    const counted = [{ capability: 'bank.look', calls: 2 }]
    const ages = await lives([EPOCH, EPOCH + 5_000 * DAY, EPOCH + 9_000 * DAY], counted)
    expect((ages as { value: [string] }).value[0]).toBe('0,1,budget_exhausted,budget_exhausted')
  })

  it.each([Number.NaN, -1, 1e300, Number.POSITIVE_INFINITY, Date.UTC(3000, 0, 1)])(
    'and what it is survives a host whose clock says %d: time stands, and the run can be gone on with',
    async (wrong) => {
      const outcome = await lives([EPOCH, wrong, EPOCH + 5], [{ capability: 'bank.look' }])
      const [said, now] = (outcome as { value: [string, number] }).value
      expect(said).toBe('0,1,2,3')
      expect(now).toBeGreaterThanOrEqual(EPOCH)
      expect(now).toBeLessThan(EPOCH + DAY)
    },
  )

  it('of time counts on when the process died without a checkpoint', async () => {
    const store = createMemoryRunStore()
    let wait = 300
    const slow = capability({
      name: 'bank.slow',
      description: 'Takes its time, and is broken off',
      effect: 'read',
      invoke: () => new Promise((resolve) => setTimeout(resolve, wait)),
    })
    const bank = openBank(slow)
    const options = { grants: bank.grants, limits: { wallMs: 700 } }
    const life = async (run: (signal: AbortSignal) => Promise<unknown>): Promise<string> => {
      const stop = new AbortController()
      const timer = setTimeout(() => stop.abort(), 250)
      const end = await endOf(run(stop.signal))
      clearTimeout(timer)
      return end
    }
    const runtime = await bank.open(store)
    const source = 'await bank.slow(); return "done"'
    expect(await life((signal) => runtime.run(source, { ...options, run: 'r', signal }))).toBe('aborted')
    const ends: string[] = []
    for (let i = 0; i < 4; i += 1) {
      ends.push(await life((signal) => runtime.resume('r', { grants: bank.grants, signal })))
    }
    expect(ends.at(-1)).toBe('exhausted')
    wait = 0
    expect(await endOf(runtime.resume('r', { grants: bank.grants }))).toBe('exhausted')
    const more = { grants: bank.grants, limits: { wallMs: 60_000 } }
    expect(await runtime.resume('r', more)).toMatchObject({ value: 'done' })
  })
})

describe('fuel', () => {
  const SOURCE =
    'await bank.pay(1); for (let i = 0; i < 1000; i++); await bank.pay(2); for (let i = 0; i < 1000; i++); return 1'

  it('that is used up to the last unit at a checkpoint ends the next turn; --add-fuel adds to the limit', async () => {
    const bank = openBank()
    const { grants } = bank
    const at = async (call: number): Promise<number> => {
      const runtime = await bank.open(createMemoryRunStore())
      const parked = await runtime.run(SOURCE, { run: 'r', grants, seed: 1, stopAtCall: call })
      return parked.usage.fuel
    }
    const used = await at(2)
    bank.paid.length = 0
    const store = createMemoryRunStore()
    const runtime = await bank.open(store)
    const limits = { fuel: used }
    const parked = await runtime.run(SOURCE, { run: 'r', grants, seed: 1, stopAtCall: 2, limits })
    expect(parked).toMatchObject({ status: 'suspended', usage: { fuel: used } })
    expect(await runtime.resume('r', { grants })).toMatchObject({ status: 'exhausted', limit: 'fuel' })
    expect(bank.paid).toEqual([1, 2])
    for (let i = 0; i < 3; i += 1) {
      const once = await runtime.resume('r', { grants, addFuel: 1 })
      expect(once).toMatchObject({ status: 'exhausted', limit: 'fuel' })
    }
    const outcome = await runtime.resume('r', { grants, addFuel: 10_000_000 })
    expect(outcome).toMatchObject({ status: 'completed' })
    expect(outcome.usage.fuel).toBeGreaterThan(used)
    expect(bank.paid).toEqual([1, 2])
  })

  it('that does not exist cannot be added', async () => {
    const bank = openBank()
    const { grants } = bank
    const runtime = await bank.open(createMemoryRunStore())
    await runtime.run(SOURCE, { run: 'r', grants, stopAtCall: 2 })
    for (const addFuel of [-1, 0.5, Number.NaN, 2 ** 53, Number.POSITIVE_INFINITY, '1']) {
      const code = await endOf(runtime.resume('r', { grants, addFuel: addFuel as number }))
      expect(code, String(addFuel)).toMatch(/invalid_limit|invalid_argument/)
    }
    expect(bank.paid).toEqual([1])
  })
})

describe('limits that are lower in the next life', () => {
  const parked = async (): Promise<{ bank: Bank; store: RunStore }> => {
    const store = createMemoryRunStore()
    const bank = openBank()
    const runtime = await bank.open(store)
    const source = `
      const kept = new Uint8Array(6_000_000).fill(1); await bank.pay(1)
      await bank.pay(2); return kept.length`
    await runtime.run(source, { run: 'r', grants: bank.grants, stopAtCall: 2 })
    return { bank, store }
  }

  it.each(['calls', 'bytesIn', 'fuel'] as const)(
    '%s: end the run before it does anything more',
    async (name) => {
      const { bank, store } = await parked()
      const runtime = await bank.open(store)
      const outcome = await runtime.resume('r', { grants: bank.grants, limits: { [name]: 1 } })
      expect(outcome).toMatchObject({ status: 'exhausted' })
      expect(bank.paid.length).toBeLessThanOrEqual(2)
      const more = { grants: bank.grants, limits: { calls: 100, bytesIn: 1e6, fuel: 1e9 } }
      expect(await runtime.resume('r', more)).toMatchObject({ value: 6_000_000 })
      expect(bank.paid).toEqual([1, 2])
    },
  )

  it.each(['host', 'from its start'])(
    'memory: less than the guest has is refused, and changes nothing (%s)',
    async (from) => {
      const { bank, store } = await parked()
      const head: RunStore['head'] = async (run) => {
        const found = await store.head(run)
        return found && { ...found, chain: [], position: 0 }
      }
      const runtime = await bank.open(from === 'host' ? store : { ...boundStore(store), head })
      const small = { grants: bank.grants, limits: { memoryBytes: 2 * 1024 * 1024 } }
      if (from === 'host') {
        await expect(runtime.resume('r', small)).rejects.toMatchObject({
          code: 'invalid_limit',
          details: { limit: 'memoryBytes' },
        })
      } else expect(await runtime.resume('r', small)).toMatchObject({ status: 'exhausted', limit: 'memory' })
      expect(bank.paid).toEqual([1])
      const enough = { grants: bank.grants, limits: { memoryBytes: 32 * 1024 * 1024 } }
      expect(await runtime.resume('r', enough)).toMatchObject({ value: 6_000_000 })
      expect(bank.paid).toEqual([1, 2])
    },
  )
})
