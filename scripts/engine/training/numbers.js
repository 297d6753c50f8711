// Numbers: typed arrays and views, matrices of arrays, integer hashing, a checksum, statistics, small big integers.

function crcTable() {
  return Uint32Array.from({ length: 256 }, (_, n) => {
    let c = n
    for (let k = 0; k < 8; k++) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1
    return c >>> 0
  })
}

function crc32(bytes, table) {
  let crc = 0xffffffff
  for (const byte of bytes) crc = table[(crc ^ byte) & 255] ^ (crc >>> 8)
  return (crc ^ 0xffffffff) >>> 0
}

function solve(matrix) {
  const rows = matrix.map((row) => [...row])
  const n = rows.length
  for (let column = 0; column < n; column++) {
    let pivot = column
    for (let row = column + 1; row < n; row++) {
      if (Math.abs(rows[row][column]) > Math.abs(rows[pivot][column])) pivot = row
    }
    ;[rows[column], rows[pivot]] = [rows[pivot], rows[column]]
    for (let row = 0; row < n; row++) {
      if (row === column) continue
      const factor = rows[row][column] / rows[column][column]
      for (let k = column; k <= n; k++) rows[row][k] -= factor * rows[column][k]
    }
  }
  return rows.map((row, i) => row[n] / row[i])
}

function sieve(limit) {
  const composite = new Uint8Array(limit)
  const primes = []
  for (let i = 2; i < limit; i++) {
    if (composite[i]) continue
    primes.push(i)
    for (let j = i * i; j < limit; j += i) composite[j] = 1
  }
  return primes
}

function power(base, exponent, modulus) {
  let result = 1n
  for (let b = base % modulus, e = exponent; e > 0n; e >>= 1n, b = (b * b) % modulus) {
    if (e & 1n) result = (result * b) % modulus
  }
  return result
}

globalThis.run = () => {
  const bytes = new Uint8Array(6000)
  const view = new DataView(bytes.buffer)
  for (let i = 0; i + 8 <= bytes.length; i += 8) view.setFloat64(i, i / 7, true)
  const checksum = crc32(bytes.subarray(16), crcTable())
  const n = 14
  const system = Array.from({ length: n }, (_, i) =>
    Array.from({ length: n + 1 }, (_, j) => ((i * 7 + j * 3) % 11) + (i === j ? 20 : 0)),
  )
  const solution = solve(system)
  const primes = sieve(6000)
  const samples = Array.from({ length: 1500 }, (_, i) => Math.sin(i) * 100)
  const mean = samples.reduce((sum, x) => sum + x, 0) / samples.length
  const deviation = Math.sqrt(samples.reduce((sum, x) => sum + (x - mean) ** 2, 0) / samples.length)
  const median = Float64Array.from(samples).sort()[750]
  const texts = samples
    .slice(0, 200)
    .map((x) => `${Math.round(x)}|${x.toFixed(3)}|${Number(x.toPrecision(4))}`)
  const hash = texts
    .join()
    .split('')
    .reduce((h, c) => (Math.imul(h, 31) + c.charCodeAt(0)) | 0, 7)
  const residues = primes.slice(1, 40).map((p) => power(3n, BigInt(p) * 1001n, 2n ** 61n - 1n) % 1000n)
  return `${checksum} ${solution[3].toFixed(6)} ${primes.length} ${deviation.toFixed(6)} ${median.toFixed(6)} ${hash} ${residues.join()}`
}
