// Fannkuch: the largest number of prefix reversals over all permutations of n numbers, with a checksum.
// Exercises small integer arrays. Algorithm of the Computer Language Benchmarks Game; for n = 8 the answer is
// checksum 1616 and 22 flips.

function fannkuch(n) {
  const first = new Array(n)
  const work = new Array(n)
  const count = new Array(n)
  for (let i = 0; i < n; i++) first[i] = i
  let checksum = 0
  let most = 0
  let permutations = 0
  let r = n
  for (;;) {
    for (; r !== 1; r--) count[r - 1] = r
    for (let i = 0; i < n; i++) work[i] = first[i]
    let flips = 0
    for (let k = work[0]; k !== 0; k = work[0]) {
      for (let low = 0, high = k; low < high; low++, high--) {
        const kept = work[low]
        work[low] = work[high]
        work[high] = kept
      }
      flips++
    }
    if (flips > most) most = flips
    checksum += permutations % 2 === 0 ? flips : -flips
    for (;;) {
      if (r === n) return `${checksum} ${most}`
      const kept = first[0]
      for (let i = 0; i < r; i++) first[i] = first[i + 1]
      first[r] = kept
      count[r]--
      if (count[r] > 0) break
      r++
    }
    permutations++
  }
}

globalThis.run = () => {
  return fannkuch(8)
}
