import { describe, expect, it } from 'vitest'
import { createMemoryRunStore } from '../../../host-bindings/store/memory-run-store.ts'
import { nodeCheckpointPorts } from '../../../host-bindings/system/checkpoint-ports.node.ts'
import { RunValues } from './run-values.ts'
import { ValueVault } from './value-vault.ts'

describe('values of a run', () => {
  it.each([
    ['small', 1],
    ['large', 2_000],
  ])(
    '3: that are %s are the same from memory as from the store, in the order of their members too',
    async (_, size) => {
      const store = createMemoryRunStore()
      const values = new RunValues(store)
      const ref = await values.keep({ z: 'x'.repeat(size), a: { y: 1, b: 2 } })
      const here = await values.load(ref)
      const there = await new RunValues(store).load(ref)
      expect(JSON.stringify(here)).toBe(JSON.stringify(there))
    },
  )

  it('that can be erased never stand in the journal as they are, however small', async () => {
    const values = new RunValues(createMemoryRunStore())
    values.useVault(new ValueVault(new Uint8Array(32).fill(7), nodeCheckpointPorts))
    for (const value of [1, 'small', { a: 1 }, null]) {
      const ref = await values.keep(value)
      expect(ref).toMatchObject({ sealed: true })
      expect(ref).not.toHaveProperty('value')
      expect(await values.load(ref)).toEqual(value)
    }
  })
})
