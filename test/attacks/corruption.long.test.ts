/** As `corruption.test.ts`, with a hundred thousand rounds. */
import { describe, it } from 'vitest'
import { corruptGuests } from './guest-corruption.ts'

describe('a guest that can write anywhere in its memory, for long', () => {
  it('ends like any other, or goes on; nothing of the host fails', () => {
    corruptGuests(100_000, 2_000_000)
  }, 3_600_000)
})
