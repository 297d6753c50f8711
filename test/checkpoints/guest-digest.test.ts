/** The digest of a guest that is run step by step: the same wherever it waits, and that of its end in the outcome. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { capability, openRuntime, type Runtime } from '../../src/entry/node.ts'

const SOURCE = 'let n = 0; for (let i = 0; i < 3; i++) n += await shop.price({ i }); return n'
const GRANTS = ['shop.price']
const clock = { now: () => Date.UTC(2026, 0, 1), monotonic: () => performance.now() }
const price = capability({ name: 'shop.price', description: 'A price', effect: 'read', invoke: () => 5 })

let runtime: Runtime
beforeAll(async () => {
  runtime = await openRuntime({ capabilities: [price], clock })
})
afterAll(() => runtime.close())

describe.each(['host', 'worker'] as const)('a guest in the thread "%s"', (thread) => {
  const options = { grants: GRANTS, seed: 1, thread, stateDigest: true }

  it('tells the digest of its state between steps, and a restored one the same', async () => {
    const guest = await runtime.start(SOURCE, options)
    const first = await guest.stateDigest()
    await guest.invoke(1)
    const second = await guest.stateDigest()
    expect(second).not.toBe(first)
    const again = await runtime.restore(await guest.checkpoint(), { grants: GRANTS, thread })
    expect(await again.stateDigest()).toBe(second)
    guest.dispose()
    again.dispose()
    await expect(guest.stateDigest()).rejects.toMatchObject({ code: 'isolate_destroyed' })
  })

  it('has the digest of its end in its outcome, as a run has, however it came there', async () => {
    const { stateDigest } = await runtime.run(SOURCE, options)
    expect(stateDigest).toMatch(/^sha256:/)
    const finished = await runtime.start(SOURCE, options)
    expect((await finished.finish()).stateDigest).toBe(stateDigest)
    const stepped = await runtime.start(SOURCE, options)
    for (const id of [1, 2, 3]) await stepped.invoke(id)
    expect(stepped.outcome?.stateDigest).toBe(stateDigest)
    const moved = await runtime.restore(await (await runtime.start(SOURCE, options)).checkpoint(), {
      grants: GRANTS,
      thread,
      stateDigest: true,
    })
    expect((await moved.finish()).stateDigest).toBe(stateDigest)
    const atOnce = await runtime.start('return 1', options)
    expect(atOnce.outcome?.stateDigest).toMatch(/^sha256:/)
  })

  it('has none where nobody asked', async () => {
    const guest = await runtime.start('return 1', { thread })
    expect(guest.outcome).not.toHaveProperty('stateDigest')
  })
})
