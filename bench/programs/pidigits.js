// Pi digits by Gibbons' unbounded spigot. Exercises BigInt arithmetic on numbers of growing size.

function digits(count) {
  let out = ''
  let q = 1n
  let r = 0n
  let t = 1n
  let k = 1n
  let n = 3n
  let l = 3n
  while (out.length < count) {
    if (4n * q + r - t < n * t) {
      out += n
      const next = 10n * (r - n * t)
      n = (10n * (3n * q + r)) / t - 10n * n
      q *= 10n
      r = next
    } else {
      const next = (2n * q + r) * l
      n = (q * (7n * k) + 2n + r * l) / (t * l)
      q *= k
      t *= l
      l += 2n
      k += 1n
      r = next
    }
  }
  return out
}

globalThis.run = () => {
  return digits(1400).slice(-20)
}
