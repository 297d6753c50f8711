import { describe, expect, it } from 'vitest'
import { createMemoryRunStore } from '../../../host-bindings/store/memory-run-store.ts'
import { RunValues } from './run-values.ts'

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
})
