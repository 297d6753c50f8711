import { it } from 'vitest'
import { expectCorruptionContained } from './heap-corruption.ts'

it.each([
  ['flipped bits', 10_000],
  ['foreign words', 5_000],
] as const)('survives rounds of corruption: %s, %d times', { timeout: 600_000 }, (kind, rounds) => {
  expectCorruptionContained(kind, rounds)
})
