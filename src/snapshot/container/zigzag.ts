/** Signed numbers as unsigned ones that are small where they are near zero: 0, -1, 1, -2, 2 … as 0, 1, 2, 3, 4 …. */

/** @param difference wrapped to 32 bits */
export function zigzag(difference: number): number {
  const wrapped = difference | 0
  return ((wrapped << 1) ^ (wrapped >> 31)) >>> 0
}

export function unzigzag(number: number): number {
  return number % 2 === 0 ? number / 2 : -(number + 1) / 2
}
