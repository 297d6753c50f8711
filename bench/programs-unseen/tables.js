// What reports do: matrices in nested arrays, a CSV built and parsed again, totals by group, sorted and formatted.
const SIZE = 36
const REGIONS = ['north', 'south', 'east', 'west', 'centre']

function matrix(seed) {
  let state = seed
  return Array.from({ length: SIZE }, () =>
    Array.from({ length: SIZE }, () => {
      state = (state * 1103515245 + 12345) % 2147483648
      return (state % 1000) / 100
    }),
  )
}

function multiply(a, b) {
  const result = []
  for (let i = 0; i < SIZE; i++) {
    const row = new Array(SIZE).fill(0)
    for (let k = 0; k < SIZE; k++) {
      const factor = a[i][k]
      for (let j = 0; j < SIZE; j++) row[j] += factor * b[k][j]
    }
    result.push(row)
  }
  return result
}

function toCsv(rows) {
  let text = 'region,product,amount,price\n'
  for (const { region, product, amount, price } of rows) {
    text += `${region},"${product.replaceAll('"', '""')}",${amount},${price.toFixed(2)}\n`
  }
  return text
}

function parseCsv(text) {
  const [head, ...lines] = text.trim().split('\n')
  const names = head.split(',')
  return lines.map((line) => {
    const cells = []
    let cell = ''
    let quoted = false
    for (let i = 0; i < line.length; i++) {
      const unit = line[i]
      if (unit === '"') {
        if (quoted && line[i + 1] === '"') {
          cell += '"'
          i++
        } else quoted = !quoted
      } else if (unit === ',' && !quoted) {
        cells.push(cell)
        cell = ''
      } else cell += unit
    }
    cells.push(cell)
    return Object.fromEntries(names.map((name, i) => [name, cells[i]]))
  })
}

globalThis.run = () => {
  const product = multiply(multiply(matrix(7), matrix(11)), matrix(13))
  let trace = 0
  for (let i = 0; i < SIZE; i++) trace += product[i][i]
  const rows = []
  for (let i = 0; i < 1200; i++) {
    const amount = Math.floor(product[i % SIZE][(i * 7) % SIZE]) % 90
    rows.push({ region: REGIONS[i % 5], product: `valve "DN${i % 40}", brass`, amount, price: (i % 97) / 4 })
  }
  const totals = new Map()
  for (const { region, amount, price } of parseCsv(toCsv(rows))) {
    const { count = 0, sum = 0 } = totals.get(region) ?? {}
    totals.set(region, { count: count + Number(amount), sum: sum + amount * Number(price) })
  }
  const report = [...totals]
    .sort(([, a], [, b]) => b.sum - a.sum)
    .map(
      ([region, { count, sum }]) =>
        `${region.padEnd(8)}${String(count).padStart(7)}${sum.toFixed(1).padStart(12)}`,
    )
  return `${Math.round(trace)} ${report.join('|')}`
}
