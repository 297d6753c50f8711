// The program of the pricing report, written the way a model writes code for a sandbox: one async function that
// calls what it was granted (sql.query, net.fetch, clock.sleep, artifacts.write) and returns a short summary.
// Nothing in it knows about the host that runs it.
// biome-ignore format: a program is one expression, without a semicolon in front
async ({ priceService }) => {
  const BATCH = 50
  const notes = []

  // ---- 1. The catalogue ------------------------------------------------------------------------------------

  const { rows: products } = await sql.query({
    text: `SELECT sku, name, category, unit, base_price::float8 AS base_price, currency, supplier, stock
            FROM products
           ORDER BY category, sku`,
  })
  console.log(`${products.length} products in the catalogue`)

  let suppliers
  try {
    suppliers = await sql.query({
      text: `SELECT supplier, count(*)::int AS products, avg(lead_time_days)::float8 AS lead_time
              FROM products GROUP BY supplier ORDER BY products DESC`,
    })
  } catch (error) {
    console.warn(`supplier query failed (${error.code}): trying again without lead times`)
    notes.push('Lead times are left out: the catalogue does not have them.')
    suppliers = await sql.query({
      text: `SELECT supplier, count(*)::int AS products
              FROM products GROUP BY supplier ORDER BY products DESC, supplier`,
    })
  }

  // ---- 2. The newest prices --------------------------------------------------------------------------------

  let waits = 0
  async function getJson(path) {
    for (;;) {
      const response = await net.fetch({ url: `${priceService}${path}` })
      if (response.status === 429) {
        const seconds = Number(response.headers['retry-after'] ?? 1)
        console.warn(`rate limited: waiting ${seconds} s`)
        waits += seconds
        await clock.sleep({ ms: seconds * 1000 })
        continue
      }
      if (response.status !== 200) throw new Error(`${path.slice(0, 20)} answered ${response.status}`)
      return JSON.parse(response.body)
    }
  }

  const { rates } = await getJson('/rates')
  const newest = new Map()
  let asOf = ''
  for (let i = 0; i < products.length; i += BATCH) {
    const skus = products.slice(i, i + BATCH).map((product) => product.sku)
    const answer = await getJson(`/prices?sku=${skus.map(encodeURIComponent).join(',')}`)
    for (const { sku, price } of answer.prices) newest.set(sku, price)
    asOf = answer.asOf
  }
  if (waits > 0) notes.push(`The price service asked for a pause; the program waited ${waits} s and went on.`)

  // ---- 3. Statistics ---------------------------------------------------------------------------------------

  const priced = []
  const unpriced = []
  for (const product of products) {
    const price = newest.get(product.sku)
    if (price === undefined) {
      unpriced.push(product)
      continue
    }
    const before = product.base_price / rates[product.currency]
    const now = price / rates[product.currency]
    priced.push({ ...product, before, now, change: price / product.base_price - 1 })
  }
  if (unpriced.length > 0) {
    const who = unpriced.length === 1 ? '1 product has' : `${unpriced.length} products have`
    notes.push(`${who} no current price: ${unpriced.map((product) => product.sku).join(', ')}.`)
  }

  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / (values.length || 1)
  const changeOf = (items) => mean(items.map((item) => item.change))
  const groupBy = (items, key) => {
    const groups = new Map()
    for (const item of items) groups.set(item[key], [...(groups.get(item[key]) ?? []), item])
    return [...groups].map(([name, members]) => ({ name, items: members, change: changeOf(members) }))
  }

  const dearer = priced.filter((item) => item.change > 0.0005)
  const cheaper = priced.filter((item) => item.change < -0.0005)
  const average = changeOf(priced)
  const stockBefore = priced.reduce((sum, item) => sum + item.before * item.stock, 0)
  const stockNow = priced.reduce((sum, item) => sum + item.now * item.stock, 0)
  const categories = groupBy(priced, 'category').sort((a, b) => b.change - a.change)
  const changeBySupplier = new Map(groupBy(priced, 'supplier').map(({ name, change }) => [name, change]))
  const byChange = [...priced].sort((a, b) => b.change - a.change)

  // ---- 4. The report ---------------------------------------------------------------------------------------

  const ENTITIES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
  const escapeHtml = (text) => String(text).replace(/[&<>"']/g, (character) => ENTITIES[character])
  const grouped = (digits) => digits.replace(/\B(?=(\d{3})+(?!\d))/g, '\u202f')
  const count = (value) => grouped(String(value))
  const euros = (value) => {
    const [whole, cents] = value.toFixed(2).split('.')
    return `${grouped(whole)}.${cents}`
  }
  const percent = (ratio) => {
    const text = Math.abs(ratio * 100).toFixed(1)
    return text === '0.0' ? '0.0\u202f%' : `${ratio < 0 ? '−' : '+'}${text}\u202f%`
  }
  const tone = (ratio) => (ratio > 0.0005 ? 'up' : ratio < -0.0005 ? 'down' : 'same')
  const MONTHS =
    'January February March April May June July August September October November December'.split(' ')
  const day = (date) => `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]} ${date.getUTCFullYear()}`

  // Bars to both sides of zero, one per category, labelled where they end.
  function categoryChart() {
    const rowHeight = 34
    const zero = 452
    const scale = 168 / Math.max(0.01, ...categories.map(({ change }) => Math.abs(change)))
    const height = categories.length * rowHeight + 8
    const bars = categories.map(({ name, items, change }, at) => {
      const y = at * rowHeight + 4
      const width = Math.max(1.5, Math.abs(change) * scale)
      const end = change < 0 ? zero - width : zero + width
      const label =
        change < 0 ? `x="${(end - 8).toFixed(1)}" text-anchor="end"` : `x="${(end + 8).toFixed(1)}"`
      return `<g><title>${escapeHtml(name)}: ${percent(change)} on average over ${items.length} products</title>
<text class="name" x="0" y="${y + 18}">${escapeHtml(name)}</text>
<text class="count" x="218" y="${y + 18}" text-anchor="end">${items.length}</text>
<rect class="${tone(change)}" x="${Math.min(zero, end).toFixed(1)}" y="${y + 4}" width="${width.toFixed(1)}" height="20" rx="3"/>
<text class="value" ${label} y="${y + 18}">${percent(change)}</text></g>`
    })
    return `<svg viewBox="0 0 720 ${height}" role="img" aria-label="Average price change of each category">
<line class="axis" x1="${zero}" x2="${zero}" y1="0" y2="${height}"/>
${bars.join('\n')}
</svg>`
  }

  // How many products moved by how much, in steps of two percentage points.
  function distributionChart() {
    const step = 0.02
    const edge = 10
    const bins = new Array(2 * edge + 1).fill(0)
    for (const { change } of priced) {
      const bin = Math.max(-edge, Math.min(edge, Math.round(change / step)))
      bins[bin + edge]++
    }
    const base = 176
    const slot = 720 / bins.length
    const tallest = Math.max(...bins)
    const columns = bins.map((size, at) => {
      const height = size === 0 ? 0 : Math.max(2, (size / tallest) * 140)
      const x = at * slot
      const middle = (x + slot / 2).toFixed(1)
      const centre = (at - edge) * step
      const label =
        at === 0 ? `≤ ${percent(centre)}` : at === bins.length - 1 ? `≥ ${percent(centre)}` : percent(centre)
      const tick =
        (at - edge) % 5 === 0
          ? `<text class="tick" x="${middle}" y="196" text-anchor="middle">${(centre * 100).toFixed(0).replace('-', '−')}\u202f%</text>`
          : ''
      return `<g><title>${label}: ${size} products</title>
<rect class="${tone(centre)}" x="${(x + 2).toFixed(1)}" y="${(base - height).toFixed(1)}" width="${(slot - 4).toFixed(1)}" height="${height.toFixed(1)}" rx="2"/>
${size > 0 ? `<text class="count" x="${middle}" y="${(base - height - 6).toFixed(1)}" text-anchor="middle">${size}</text>` : ''}${tick}</g>`
    })
    return `<svg viewBox="0 0 720 204" role="img" aria-label="Number of products by price change">
${columns.join('\n')}
<line class="axis" x1="0" x2="720" y1="${base}" y2="${base}"/>
</svg>`
  }

  const movers = (title, items) => `<section class="card"><h2>${title}</h2><div class="scroll"><table>
<thead><tr><th>Product</th><th class="n">was €</th><th class="n">now €</th><th class="n">change</th></tr></thead>
<tbody>${items
    .map(
      (item) => `<tr><td>${escapeHtml(item.name)}<small>${escapeHtml(item.sku)}, ${escapeHtml(item.supplier)}</small></td>
<td class="n">${euros(item.before)}</td><td class="n">${euros(item.now)}</td><td class="n ${tone(item.change)}">${percent(item.change)}</td></tr>`,
    )
    .join('\n')}</tbody></table></div></section>`

  const tile = (label, value, detail) =>
    `<div class="tile"><span>${label}</span><strong>${value}</strong><small>${detail}</small></div>`

  const share = (items) => `${((100 * items.length) / priced.length).toFixed(0)}\u202f% of all`
  const direction = average > 0.0005 ? 'up' : average < -0.0005 ? 'down' : 'flat'
  const headline =
    direction === 'flat'
      ? 'Prices hardly moved'
      : `Prices are ${direction} ${percent(Math.abs(average)).slice(1)} on average`
  const leader = categories[0]
  const trailer = categories[categories.length - 1]

  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Pricing report</title>
<style>
:root { --page: #f6f6f3; --card: #fff; --ink: #1c1d1a; --soft: #63665f; --line: #e3e3dd; --up: #b8480f; --down: #1f6a8c; --same: #a3a69d; }
@media (prefers-color-scheme: dark) {
  :root { --page: #151614; --card: #1e201d; --ink: #eceee8; --soft: #a0a49a; --line: #33362f; --up: #f0925a; --down: #69b7dc; --same: #72766c; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { max-width: 62rem; margin: 0 auto; padding: 3.5rem 1.25rem 5rem; }
h1 { margin: .3rem 0 .6rem; font-size: clamp(1.9rem, 5vw, 2.9rem); line-height: 1.1; letter-spacing: -.025em; }
h2 { margin: 0 0 .2rem; font-size: 1.1rem; letter-spacing: -.01em; }
p { margin: 0; }
.eyebrow, .lead, .caption, small, footer { color: var(--soft); }
.eyebrow { font-size: .9rem; }
.lead { max-width: 44rem; font-size: 1.08rem; }
.caption { margin-bottom: 1rem; font-size: .92rem; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(10rem, 1fr)); gap: 1px; margin: 2rem 0; overflow: hidden; background: var(--line); border: 1px solid var(--line); border-radius: 12px; }
.tile { display: grid; padding: 1rem 1.15rem; background: var(--card); }
.tile span { color: var(--soft); font-size: .88rem; }
.tile strong { font-size: 1.7rem; font-weight: 600; letter-spacing: -.02em; font-variant-numeric: tabular-nums; }
.card { margin-bottom: 1.25rem; padding: 1.4rem 1.5rem; background: var(--card); border: 1px solid var(--line); border-radius: 12px; }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); gap: 0 1.25rem; }
.scroll { overflow-x: auto; }
svg { display: block; width: 100%; min-width: 34rem; height: auto; font: 14px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; fill: var(--ink); }
svg rect.up { fill: var(--up); } svg rect.down { fill: var(--down); } svg rect.same { fill: var(--same); }
svg .axis { stroke: var(--same); stroke-width: 1; }
svg .value { font-weight: 600; font-variant-numeric: tabular-nums; }
svg .count, svg .tick { fill: var(--soft); font-size: 12px; font-variant-numeric: tabular-nums; }
table { width: 100%; border-collapse: collapse; font-size: .93rem; }
th { color: var(--soft); font-weight: 500; font-size: .85rem; text-align: left; white-space: nowrap; }
th, td { padding: .45rem .5rem .45rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th:last-child, td:last-child { padding-right: 0; }
tbody tr:last-child td { border-bottom: 0; }
.n { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
td.up { color: var(--up); font-weight: 600; } td.down { color: var(--down); font-weight: 600; }
td small { display: block; font-size: .82rem; }
summary { cursor: pointer; font-weight: 600; }
summary small { font-weight: 400; font-size: .92rem; }
details table { margin-top: 1rem; }
tr.group td { padding-top: 1.1rem; font-weight: 600; }
ul { margin: .4rem 0 0; padding-left: 1.1rem; }
li { overflow-wrap: anywhere; }
footer { margin-top: 2rem; font-size: .88rem; }
@media print { .card, .tiles { break-inside: avoid; } body { background: none; } }
</style>
</head>
<body>
<main>
<p class="eyebrow">Pricing report, ${day(new Date(asOf))}</p>
<h1>${headline}</h1>
<p class="lead">${escapeHtml(leader.name)} moved furthest up (${percent(leader.change)}), ${escapeHtml(trailer.name)} furthest down (${percent(trailer.change)}). Current prices of ${count(priced.length)} products against the catalogue's base prices; amounts in euros at today's rates.</p>

<div class="tiles">
${tile('Products priced', count(priced.length), `of ${count(products.length)} in the catalogue`)}
${tile('Dearer', count(dearer.length), share(dearer))}
${tile('Cheaper', count(cheaper.length), share(cheaper))}
${tile('Stock value', `€\u202f${grouped(stockNow.toFixed(0))}`, `${percent(stockNow / stockBefore - 1)} at current prices`)}
</div>

<section class="card"><h2>Average change by category</h2>
<p class="caption">Mean over the products of each category, with their number</p>
<div class="scroll">${categoryChart()}</div></section>

<section class="card"><h2>How far single prices moved</h2>
<p class="caption">Number of products by change, in steps of two percentage points</p>
<div class="scroll">${distributionChart()}</div></section>

<div class="pair">
${movers('Largest increases', byChange.slice(0, 8))}
${movers('Largest decreases', byChange.slice(-8).reverse())}
</div>

<section class="card"><h2>Suppliers</h2><div class="scroll"><table>
<thead><tr><th>Supplier</th><th class="n">products</th><th class="n">average change</th></tr></thead>
<tbody>${suppliers.rows
    .map(({ supplier, products: size }) => {
      const change = changeBySupplier.get(supplier) ?? 0
      return `<tr><td>${escapeHtml(supplier)}</td><td class="n">${count(size)}</td><td class="n ${tone(change)}">${percent(change)}</td></tr>`
    })
    .join('\n')}</tbody></table></div></section>

<section class="card"><details><summary>All ${count(priced.length)} prices <small>by category</small></summary><div class="scroll"><table>
<thead><tr><th>SKU</th><th>Product</th><th>Unit</th><th class="n">was €</th><th class="n">now €</th><th class="n">change</th></tr></thead>
<tbody>${groupBy(priced, 'category')
    .map(
      ({ name, items }) => `<tr class="group"><td colspan="6">${escapeHtml(name)}</td></tr>
${items
  .map(
    (item) =>
      `<tr><td>${escapeHtml(item.sku)}</td><td>${escapeHtml(item.name)}</td><td>${escapeHtml(item.unit)}</td><td class="n">${euros(item.before)}</td><td class="n">${euros(item.now)}</td><td class="n ${tone(item.change)}">${percent(item.change)}</td></tr>`,
  )
  .join('\n')}`,
    )
    .join('\n')}</tbody></table></div></details></section>

<section class="card"><h2>Notes</h2><ul>${notes.map((note) => `<li>${escapeHtml(note)}</li>`).join('')}</ul></section>

<footer>Prices as of ${escapeHtml(asOf.slice(0, 16).replace('T', ' '))} UTC. 1 EUR = ${escapeHtml(rates.USD)} USD = ${escapeHtml(rates.GBP)} GBP.</footer>
</main>
</body>
</html>
`

  const artifact = await artifacts.write({ name: 'pricing-report.html', mediaType: 'text/html', data: html })
  return {
    products: products.length,
    priced: priced.length,
    dearer: dearer.length,
    cheaper: cheaper.length,
    averageChange: Math.round(average * 10_000) / 10_000,
    report: artifact.digest,
    notes,
  }
}
