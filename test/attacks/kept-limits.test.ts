/**
 * Limits of runs that go on: what the embedder gives counts; what a log says that nobody vouches for never makes any of
 * them wider than the runtime's own.
 */
import { describe, expect, it } from 'vitest'
import { createMemoryRunStore } from '../../host-bindings/store/memory-run-store.ts'
import type { RunStore, RuntimeOptions } from '../../src/entry/node.ts'
import { boundStore } from '../checkpoints/bound-store.ts'
import { type Bank, KEYS, openBank } from './bank.ts'
import { retold } from './retold-log.ts'

const SPINS = 'await bank.look(1); await bank.look(2); while (1);'
const WIDE = { fuel: 2 ** 40, calls: 1_000_000 }
const OWN = { fuel: 20_000_000, calls: 5, wallMs: 60_000 }

/** A run that waits before its second call, begun with these limits. */
async function parked(limits: object, options: RuntimeOptions = {}): Promise<readonly [RunStore, Bank]> {
  const store = createMemoryRunStore()
  const bank = openBank()
  const runtime = await bank.open(store, options)
  await runtime.run(SPINS, { run: 'r', grants: bank.grants, limits, stopAtCall: 2 })
  return [store, bank]
}

const widened = (store: RunStore): RunStore =>
  retold(store, (entry) =>
    entry.type === 'start' || entry.type === 'open'
      ? { ...entry, limits: { ...entry.limits, ...WIDE } }
      : entry,
  )

/** Without its checkpoints a run is gone on with from its log alone. */
const withoutCheckpoints = (store: RunStore): RunStore => ({
  ...boundStore(store),
  head: async (run) => {
    const head = await store.head(run)
    return head && { ...head, chain: [], position: 0 }
  },
})

describe('a log that no key vouches for', () => {
  it.each(['resume', 'repeat'] as const)(
    'whose limits somebody widened gives %s no more than the runtime has',
    async (how) => {
      const [store, { grants, open }] = await parked({ fuel: 1_000_000 })
      if (how === 'repeat') {
        const spent = await open(store)
        await spent.resume('r', { grants, addFuel: 1_000_000 })
      }
      const runtime = await open(withoutCheckpoints(widened(store)), { limits: OWN })
      const outcome = await runtime[how]('r', { grants })
      expect(outcome).toMatchObject({ status: 'exhausted', limit: 'fuel' })
      expect(outcome.usage.fuel).toBeLessThan(2 * OWN.fuel)
    },
  )

  it('says less than the embedder, who may give more, or less', async () => {
    const [store, { grants, open }] = await parked(WIDE)
    const runtime = await open(withoutCheckpoints(widened(store)), { limits: OWN })
    const fuelWith = async (fuel: number): Promise<number> => {
      const outcome = await runtime.resume('r', { grants, limits: { fuel } })
      expect(outcome).toMatchObject({ status: 'exhausted', limit: 'fuel' })
      return outcome.usage.fuel
    }
    expect(await fuelWith(5_000_000)).toBeLessThan(10_000_000)
    const more = await fuelWith(50_000_000)
    expect(more).toBeGreaterThan(OWN.fuel * 2)
    expect(more).toBeLessThan(100_000_000)
  })
})

describe('a log with a key', () => {
  it('keeps limits that are wider than those of the runtime', async () => {
    const options: RuntimeOptions = { limits: OWN, checkpoints: { keys: KEYS } }
    const [store, { grants, open }] = await parked({ fuel: 60_000_000 }, options)
    const outcome = await (await open(store, options)).resume('r', { grants })
    expect(outcome).toMatchObject({ status: 'exhausted', limit: 'fuel' })
    expect(outcome.usage.fuel).toBeGreaterThan(OWN.fuel * 2)
  })
})
