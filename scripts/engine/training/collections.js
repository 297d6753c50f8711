// Collections: maps, sets, generators, iteration, spreading, destructuring and sorting of small records.

function* range(from, to, step = 1) {
  for (let i = from; i < to; i += step) yield i
}

class Inventory {
  #stock = new Map()

  constructor(entries) {
    for (const { sku, count } of entries) this.add(sku, count)
  }

  add(sku, count) {
    this.#stock.set(sku, (this.#stock.get(sku) ?? 0) + count)
    return this
  }

  *low(limit) {
    for (const [sku, count] of this.#stock) if (count < limit) yield sku
  }

  get size() {
    return this.#stock.size
  }
}

globalThis.run = () => {
  const orders = [...range(0, 1500)].map((id) => ({
    id,
    sku: `sku-${(id * 31) % 211}`,
    count: (id % 9) - 2,
    tags: new Set(['new', `lot${id % 5}`, id % 2 ? 'odd' : 'even']),
  }))
  const inventory = new Inventory(orders)
  const groups = new Map()
  for (const { id, tags, ...rest } of orders) {
    for (const tag of tags) {
      const group = groups.get(tag) ?? []
      group.push({ id, ...rest, tag })
      groups.set(tag, group)
    }
  }
  const sums = Object.fromEntries(
    [...groups].map(([tag, list]) => [tag, list.reduce((sum, { count }) => sum + count, 0)]),
  )
  const ranked = Object.entries(sums).sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
  const first = orders.find(({ sku, count }) => sku.endsWith('7') && count > 5)
  const flat = orders
    .flatMap(({ tags }) => [...tags].slice(0, 2))
    .filter((tag, i, all) => all.indexOf(tag) === i)
  const rows = orders.slice(0, 300).map(({ id, sku, count }) => [id, sku, count])
  const weak = new WeakMap(orders.map((order) => [order, order.id]))
  const known = orders.every((order) => weak.has(order)) && orders.some(({ tags }) => tags.has('lot4'))
  return JSON.stringify([
    inventory.size,
    [...inventory.low(20)].length,
    ranked,
    first.id,
    flat,
    rows.length,
    known,
  ])
}
