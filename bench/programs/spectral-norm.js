// Spectral norm of an infinite matrix by the power method. Exercises calls of tiny functions and typed arrays.
// Algorithm of the Computer Language Benchmarks Game; for n = 100 the answer is 1.274219991.

function element(i, j) {
  return 1 / (((i + j) * (i + j + 1)) / 2 + i + 1)
}

function multiply(v, out) {
  for (let i = 0; i < v.length; i++) {
    let sum = 0
    for (let j = 0; j < v.length; j++) sum += element(i, j) * v[j]
    out[i] = sum
  }
}

function multiplyTransposed(v, out) {
  for (let i = 0; i < v.length; i++) {
    let sum = 0
    for (let j = 0; j < v.length; j++) sum += element(j, i) * v[j]
    out[i] = sum
  }
}

globalThis.run = () => {
  const n = 100
  const u = new Float64Array(n).fill(1)
  const v = new Float64Array(n)
  const between = new Float64Array(n)
  for (let i = 0; i < 10; i++) {
    multiply(u, between)
    multiplyTransposed(between, v)
    multiply(v, between)
    multiplyTransposed(between, u)
  }
  let dot = 0
  let norm = 0
  for (let i = 0; i < n; i++) {
    dot += u[i] * v[i]
    norm += v[i] * v[i]
  }
  return Math.sqrt(dot / norm).toFixed(9)
}
