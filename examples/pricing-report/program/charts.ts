/** The charts of the report, as SVG. */
import { type Group, movementOf, type PricedProduct } from './statistics.ts'
import { escapeHtml, percent } from './wording.ts'

/** Bars to both sides of zero, one per category, labelled where they end. */
export function categoryChart(categories: readonly Group[]): string {
  const rowHeight = 34
  const zero = 452
  const scale = 168 / Math.max(0.01, ...categories.map(({ change }) => Math.abs(change)))
  const height = categories.length * rowHeight + 8
  const bars = categories.map(({ name, items, change }, at) => {
    const y = at * rowHeight + 4
    const width = Math.max(1.5, Math.abs(change) * scale)
    const end = change < 0 ? zero - width : zero + width
    const label = change < 0 ? `x="${(end - 8).toFixed(1)}" text-anchor="end"` : `x="${(end + 8).toFixed(1)}"`
    return `<g><title>${escapeHtml(name)}: ${percent(change)} on average over ${items.length} products</title>
<text class="name" x="0" y="${y + 18}">${escapeHtml(name)}</text>
<text class="count" x="218" y="${y + 18}" text-anchor="end">${items.length}</text>
<rect class="${movementOf(change)}" x="${Math.min(zero, end).toFixed(1)}" y="${y + 4}" width="${width.toFixed(1)}" height="20" rx="3"/>
<text class="value" ${label} y="${y + 18}">${percent(change)}</text></g>`
  })
  return `<svg viewBox="0 0 720 ${height}" role="img" aria-label="Average price change of each category">
<line class="axis" x1="${zero}" x2="${zero}" y1="0" y2="${height}"/>
${bars.join('\n')}
</svg>`
}

/** How many products moved by how much, in steps of two percentage points. */
export function distributionChart(priced: readonly PricedProduct[]): string {
  const step = 0.02
  const edge = 10
  const bins = new Array<number>(2 * edge + 1).fill(0)
  for (const { change } of priced) {
    const bin = Math.max(-edge, Math.min(edge, Math.round(change / step)))
    bins[bin + edge] = (bins[bin + edge] ?? 0) + 1
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
<rect class="${movementOf(centre)}" x="${(x + 2).toFixed(1)}" y="${(base - height).toFixed(1)}" width="${(slot - 4).toFixed(1)}" height="${height.toFixed(1)}" rx="2"/>
${size > 0 ? `<text class="count" x="${middle}" y="${(base - height - 6).toFixed(1)}" text-anchor="middle">${size}</text>` : ''}${tick}</g>`
  })
  return `<svg viewBox="0 0 720 204" role="img" aria-label="Number of products by price change">
${columns.join('\n')}
<line class="axis" x1="0" x2="720" y1="${base}" y2="${base}"/>
</svg>`
}
