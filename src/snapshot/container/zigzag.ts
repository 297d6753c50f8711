/** Signed numbers as unsigned ones that are small where they are near zero: 0, -1, 1, -2, 2 … as 0, 1, 2, 3, 4 …. */

const TWO_TO_32 = 2 ** 32

/** @param difference wrapped to 32 bits */
export function zigzag(difference: number): number {
  const wrapped = difference | 0
  return ((wrapped << 1) ^ (wrapped >> 31)) >>> 0
}

export function unzigzag(number: number): number {
  if (number < TWO_TO_32) return (number >>> 1) ^ -(number & 1)
  return number % 2 === 0 ? number / 2 : -(number + 1) / 2
}
