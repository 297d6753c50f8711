// Sorting: a comparator on records, the default order, typed arrays, and a quicksort and a heap written in
// JavaScript. Exercises callbacks from native code, swaps in arrays, Map and Set.

function numbers(count) {
  const out = new Array(count)
  let state = 12345
  for (let i = 0; i < count; i++) {
    state = (state * 1103515245 + 12345) & 0x7fffffff
    out[i] = state % 100003
  }
  return out
}

function quicksort(a, low, high) {
  while (low < high) {
    const pivot = a[(low + high) >> 1]
    let i = low
    let j = high
    while (i <= j) {
      while (a[i] < pivot) i++
      while (a[j] > pivot) j--
      if (i <= j) {
        const kept = a[i]
        a[i++] = a[j]
        a[j--] = kept
      }
    }
    if (j - low < high - i) {
      quicksort(a, low, j)
      low = i
    } else {
      quicksort(a, i, high)
      high = j
    }
  }
}

function heapsort(a) {
  const sift = (root, end) => {
    for (let child = 2 * root + 1; child < end; child = 2 * root + 1) {
      if (child + 1 < end && a[child] < a[child + 1]) child++
      if (a[root] >= a[child]) return
      const kept = a[root]
      a[root] = a[child]
      a[child] = kept
      root = child
    }
  }
  for (let root = (a.length >> 1) - 1; root >= 0; root--) sift(root, a.length)
  for (let end = a.length - 1; end > 0; end--) {
    const kept = a[0]
    a[0] = a[end]
    a[end] = kept
    sift(0, end)
  }
}

globalThis.run = () => {
  const input = numbers(10000)
  const expected = [...Float64Array.from(input).sort()]
  const records = input
    .map((key, index) => ({ key, index }))
    .sort((a, b) => a.key - b.key || a.index - b.index)
  const quick = input.slice()
  quicksort(quick, 0, quick.length - 1)
  const heap = input.slice()
  heapsort(heap)
  const texts = input.slice().sort()
  for (let i = 0; i < expected.length; i++) {
    if (records[i].key !== expected[i] || quick[i] !== expected[i] || heap[i] !== expected[i]) {
      throw new Error(`not sorted at ${i}`)
    }
  }
  const groups = new Map()
  for (const value of input) groups.set(value % 997, (groups.get(value % 997) ?? 0) + 1)
  return [expected[0], expected[5000], expected[9999], texts[5000], new Set(input).size, groups.size].join(
    ' ',
  )
}
