/** How long ago something was, for people: one number, one unit. */

const STEPS: readonly (readonly [unit: string, milliseconds: number])[] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
]

/** `5 s`, `12 min`, `3 h`, `40 d`; `now` for less than a second, also where a clock was set back. */
export function showAge(milliseconds: number): string {
  for (const [unit, step] of STEPS) {
    if (milliseconds >= step) return `${Math.floor(milliseconds / step)} ${unit}`
  }
  return 'now'
}

/** The same in a sentence: `5 s ago`, `just now`. */
export function showAgo(milliseconds: number): string {
  const age = showAge(milliseconds)
  return age === 'now' ? 'just now' : `${age} ago`
}
