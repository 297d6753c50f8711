/** Draws the same tests for the same seed, on every machine. */
import { SeededRandom } from '../seeded-random.ts'

/** `size` of the items, or all of them if there are fewer; in the order in which they were given. */
export function sample<T>(items: readonly T[], size: number, seed: number): readonly T[] {
  const random = new SeededRandom(seed)
  const chosen = items.map((_, index) => index)
  const count = Math.min(size, items.length)
  // The first steps of a Fisher-Yates shuffle.
  for (let i = 0; i < count; i += 1) {
    const j = i + random.below(items.length - i)
    const other = chosen[j] as number
    chosen[j] = chosen[i] as number
    chosen[i] = other
  }
  return chosen
    .slice(0, count)
    .sort((a, b) => a - b)
    .map((index) => items[index] as T)
}
