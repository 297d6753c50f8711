/** A length of time for people: the two largest units that it has. */
const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
  ['ms', 1],
] as const

/** @param ms milliseconds */
export function durationText(ms: number): string {
  const parts: string[] = []
  let left = ms
  for (const [unit, length] of UNITS) {
    const count = Math.floor(left / length)
    left -= count * length
    if (count > 0) parts.push(`${count} ${unit}`)
    // After the first, only the next one: hours and seconds together are of no use.
    else if (parts.length > 0) break
    if (parts.length === 2) break
  }
  return parts.join(' ') || '0 ms'
}
