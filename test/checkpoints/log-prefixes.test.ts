/**
 * A process may die after any write: wherever the log of a run ends, the run goes on to its end, and can be taken again
 * up to where its record breaks off.
 */
import { expect, it } from 'vitest'
import { createMemoryRunStore } from '../../host-bindings/store/memory-run-store.ts'
import { capability, openRuntime } from '../../src/entry/node.ts'

const SOURCE = `
  const said = [bank.tick()]
  for (let i = 0; i < 2; i++) {
    const timer = new Promise((resolve) => setTimeout(() => resolve(bank.tick()), 2))
    said.push(...(await Promise.all([bank.pay(i), bank.look(i), timer])))
    said.push(bank.tick(), bank.tick())
    await new Promise((resolve) => setTimeout(resolve, 1))
    bank.tick()
  }
  return said.length`

function openBank() {
  let ticks = 0
  const capabilities = [
    capability({ name: 'bank.pay', description: 'Pays', effect: 'write', invoke: (n: unknown) => n }),
    capability({
      name: 'bank.look',
      description: 'Looks, for a while',
      effect: 'read',
      invoke: (n: unknown) => new Promise((resolve) => setTimeout(resolve, 3, n)),
    }),
    capability({
      name: 'bank.tick',
      description: 'Ticks',
      effect: 'read',
      sync: true,
      invoke: () => ++ticks,
    }),
  ]
  return { capabilities, options: { grants: capabilities.map(({ name }) => name) } }
}

it('a log that ends anywhere leads to the same end, and is repeated up to there', async () => {
  const { capabilities, options } = openBank()
  const store = createMemoryRunStore()
  const runtime = await openRuntime({ capabilities, store, checkpoints: { every: { calls: 3 } } })
  const whole = await runtime.run(SOURCE, { ...options, run: 'whole', seed: 1 })
  expect(whole).toMatchObject({ status: 'completed', value: 11 })
  const entries = await store.entries('whole', 0, 1_000)
  const ends: Record<string, number> = {}
  for (let length = 1; length <= entries.length; length += 1) {
    const run = `first-${length}`
    const lease = await store.lease(run, 60_000)
    await store.append(run, 0, entries.slice(0, length), lease)
    await lease.release()
    const repeated = await runtime.repeat(run, { ...options, stateDigest: true })
    expect(repeated.status, `repeat ${run}`).toMatch(/^(?:suspended|completed)$/)
    ends[repeated.status] = (ends[repeated.status] ?? 0) + 1
    let outcome = await runtime.resume(run, options)
    if (outcome.status === 'suspended') {
      outcome = await runtime.resume(run, { ...options, confirm: outcome.inDoubt })
    }
    expect(outcome, `resume ${run}`).toMatchObject({ status: 'completed', value: 11 })
  }
  expect(ends.suspended).toBeGreaterThan(20)
  expect(ends.completed).toBeGreaterThan(0)
  await runtime.close()
})
