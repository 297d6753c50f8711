/**
 * Up to three of `names` that `wanted` was probably meant to be: the same but for case, the same last
 * segment, or within an edit distance of a third of its length. Bounded: looks at 1,000 names of 256 characters.
 */
export function nearNames(wanted: string, names: Iterable<string>): string[] {
  const target = wanted.slice(0, 256).toLowerCase()
  const lastSegment = target.slice(target.lastIndexOf('.') + 1)
  const allowed = Math.max(2, Math.floor(target.length / 3))
  const found: { name: string; distance: number }[] = []
  let looked = 0
  for (const name of names) {
    if (++looked > 1000) break
    const candidate = name.slice(0, 256).toLowerCase()
    const sameLast = candidate.slice(candidate.lastIndexOf('.') + 1) === lastSegment
    const distance = sameLast ? 1 : editDistance(target, candidate)
    if (distance <= allowed) found.push({ name, distance })
  }
  found.sort((a, b) => a.distance - b.distance)
  return found.slice(0, 3).map(({ name }) => name)
}

/** Levenshtein distance with one row of memory. */
function editDistance(a: string, b: string): number {
  const row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    let diagonal = i - 1
    row[0] = i
    for (let j = 1; j <= b.length; j++) {
      const above = row[j] as number
      const replaced = diagonal + (a[i - 1] === b[j - 1] ? 0 : 1)
      row[j] = Math.min(replaced, above + 1, (row[j - 1] as number) + 1)
      diagonal = above
    }
  }
  return row[b.length] as number
}
