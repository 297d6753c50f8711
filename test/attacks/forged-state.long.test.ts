/** Every field of a captured guest, with every change: see forged-state.test.ts. */
import { expect, it } from 'vitest'
import { openForger } from './forged-fields.ts'

it('every field of a state with every change is refused by a code, or ends as a guest does', async () => {
  const forger = await openForger()
  expect(await forger.sweep(1)).toEqual([])
  expect(forger.bank.paid).toEqual([])
}, 300_000)
