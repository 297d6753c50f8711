/** A capability that comes with the grant of another one is no other grant to a guest that was captured before. */
import { describe, expect, it } from 'vitest'
import { createMemoryRunStore } from '../../host-bindings/store/memory-run-store.ts'
import { capability, openRuntime } from '../../src/entry/node.ts'

const open = capability({
  name: 'things.open',
  description: 'Opens a thing',
  effect: 'read',
  invoke: () => 'opened',
})
const read = capability({
  name: 'things.read',
  description: 'Reads of an opened thing',
  effect: 'read',
  continues: 'things.open',
  invoke: () => 'read',
})
const grants = ['things.open']
const SOURCE =
  'const a = await things.open(); const b = await things.open(); return [a, b, typeof things.read]'

describe('a guest that was captured before a capability was continued', () => {
  it('goes on from its checkpoint, and without what it has no function for', async () => {
    const before = await openRuntime({ capabilities: [open] })
    const guest = await before.start(SOURCE, { grants })
    const bytes = await guest.checkpoint()
    const after = await openRuntime({ capabilities: [open, read] })
    const again = await after.restore(bytes, { grants })
    expect(await again.finish()).toMatchObject({
      status: 'completed',
      value: ['opened', 'opened', 'undefined'],
    })
    const fresh = await after.run(SOURCE, { grants })
    expect(fresh).toMatchObject({ status: 'completed', value: ['opened', 'opened', 'function'] })
    await Promise.all([before.close(), after.close()])
  })

  it.each([1, 2])('goes on from its record, parked at call %i', async (stopAtCall) => {
    const store = createMemoryRunStore()
    const before = await openRuntime({ capabilities: [open], store })
    expect(await before.run(SOURCE, { grants, run: 'r', stopAtCall })).toMatchObject({ status: 'suspended' })
    const after = await openRuntime({ capabilities: [open, read], store })
    expect(await after.resume('r', { grants })).toMatchObject({
      status: 'completed',
      value: ['opened', 'opened', 'undefined'],
    })
    await Promise.all([before.close(), after.close()])
  })

  it('is refused by name where what it has functions for is not there', async () => {
    const before = await openRuntime({ capabilities: [open, read] })
    const guest = await before.start(SOURCE, { grants })
    const bytes = await guest.checkpoint()
    const after = await openRuntime({ capabilities: [open] })
    await expect(after.restore(bytes, { grants })).rejects.toMatchObject({
      code: 'checkpoint_refused',
      details: { missing: ['things.read'] },
    })
    guest.dispose()
    await Promise.all([before.close(), after.close()])
  })
})
