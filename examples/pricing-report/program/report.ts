/** The page: one HTML file that needs nothing from elsewhere. */
import { categoryChart, distributionChart } from './charts.ts'
import type { Product, Rates, Supplier } from './products.ts'
import { type Group, Movement, movementOf, type PricedProduct, type Statistics } from './statistics.ts'
import { STYLE } from './style.ts'
import { count, day, escapeHtml, euros, grouped, percent } from './wording.ts'

export interface Report {
  readonly products: readonly Product[]
  readonly priced: readonly PricedProduct[]
  readonly suppliers: readonly Supplier[]
  readonly statistics: Statistics
  readonly prices: { readonly rates: Rates; readonly asOf: string }
  readonly notes: readonly string[]
}

const HEADLINES = {
  [Movement.Up]: (by) => `Prices are up ${by} on average`,
  [Movement.Down]: (by) => `Prices are down ${by} on average`,
  [Movement.Same]: () => 'Prices hardly moved',
} satisfies Record<Movement, (by: string) => string>

/** @throws Error when no product has a price */
export function reportPage({ products, priced, suppliers, statistics, prices, notes }: Report): string {
  const { dearer, cheaper, average, stockBefore, stockNow, categories, changeBySupplier, byChange } =
    statistics
  const { rates, asOf } = prices
  const ranked = [...categories].sort((a, b) => b.change - a.change)
  const leader = ranked[0]
  const trailer = ranked[ranked.length - 1]
  if (leader === undefined || trailer === undefined) throw new Error('no product has a price')
  const headline = HEADLINES[movementOf(average)](percent(Math.abs(average)).slice(1))
  const share = (items: readonly PricedProduct[]): string =>
    `${((100 * items.length) / priced.length).toFixed(0)}\u202f% of all`

  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Pricing report</title>
<style>
${STYLE}
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
<div class="scroll">${categoryChart(ranked)}</div></section>

<section class="card"><h2>How far single prices moved</h2>
<p class="caption">Number of products by change, in steps of two percentage points</p>
<div class="scroll">${distributionChart(priced)}</div></section>

<div class="pair">
${movers('Largest increases', byChange.slice(0, 8))}
${movers('Largest decreases', byChange.slice(-8).reverse())}
</div>

<section class="card"><h2>Suppliers</h2><div class="scroll"><table>
<thead><tr><th>Supplier</th><th class="n">products</th><th class="n">average change</th></tr></thead>
<tbody>${supplierRows(suppliers, changeBySupplier)}</tbody></table></div></section>

<section class="card"><details><summary>All ${count(priced.length)} prices <small>by category</small></summary><div class="scroll"><table>
<thead><tr><th>SKU</th><th>Product</th><th>Unit</th><th class="n">was €</th><th class="n">now €</th><th class="n">change</th></tr></thead>
<tbody>${productRows(categories)}</tbody></table></div></details></section>

<section class="card"><h2>Notes</h2><ul>${notes.map((note) => `<li>${escapeHtml(note)}</li>`).join('')}</ul></section>

<footer>Prices as of ${escapeHtml(asOf.slice(0, 16).replace('T', ' '))} UTC. 1 EUR = ${escapeHtml(rates.USD)} USD = ${escapeHtml(rates.GBP)} GBP.</footer>
</main>
</body>
</html>
`
}

function movers(title: string, items: readonly PricedProduct[]): string {
  const rows = items.map(({ name, sku, supplier, before, now, change }) => {
    return `<tr><td>${escapeHtml(name)}<small>${escapeHtml(sku)}, ${escapeHtml(supplier)}</small></td>
<td class="n">${euros(before)}</td><td class="n">${euros(now)}</td>${changeCell(change)}</tr>`
  })
  return `<section class="card"><h2>${title}</h2><div class="scroll"><table>
<thead><tr><th>Product</th><th class="n">was €</th><th class="n">now €</th><th class="n">change</th></tr></thead>
<tbody>${rows.join('\n')}</tbody></table></div></section>`
}

function supplierRows(suppliers: readonly Supplier[], changes: Statistics['changeBySupplier']): string {
  const rows = suppliers.map(({ supplier, products }) => {
    const change = changes.get(supplier) ?? 0
    return `<tr><td>${escapeHtml(supplier)}</td><td class="n">${count(products)}</td>${changeCell(change)}</tr>`
  })
  return rows.join('\n')
}

function productRows(categories: readonly Group[]): string {
  const rows = categories.flatMap(({ name, items }) => [
    `<tr class="group"><td colspan="6">${escapeHtml(name)}</td></tr>`,
    ...items.map(({ sku, name, unit, before, now, change }) => {
      const what = [sku, name, unit].map((text) => `<td>${escapeHtml(text)}</td>`).join('')
      return `<tr>${what}<td class="n">${euros(before)}</td><td class="n">${euros(now)}</td>${changeCell(change)}</tr>`
    }),
  ])
  return rows.join('\n')
}

const changeCell = (change: number): string => `<td class="n ${movementOf(change)}">${percent(change)}</td>`

const tile = (label: string, value: string, detail: string): string =>
  `<div class="tile"><span>${label}</span><strong>${value}</strong><small>${detail}</small></div>`
