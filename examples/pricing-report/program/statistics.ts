/** What the newest prices mean: changes against the base prices, by category and by supplier. */
import type { NewestPrices, Product, Rates } from './products.ts'

/** Which way a price went. The values are classes of the page. */
export enum Movement {
  Up = 'up',
  Down = 'down',
  Same = 'same',
}

export interface PricedProduct extends Product {
  /** Base price and newest price, in euros. */
  readonly before: number
  readonly now: number
  /** As a ratio: 0.1 is ten percent more. */
  readonly change: number
}

export interface Group {
  readonly name: string
  readonly items: readonly PricedProduct[]
  /** Mean of theirs. */
  readonly change: number
}

export interface Statistics {
  readonly dearer: readonly PricedProduct[]
  readonly cheaper: readonly PricedProduct[]
  readonly average: number
  /** In euros, at base prices and at the newest. */
  readonly stockBefore: number
  readonly stockNow: number
  /** As they come in the catalogue. */
  readonly categories: readonly Group[]
  readonly changeBySupplier: ReadonlyMap<string, number>
  /** The largest increase first. */
  readonly byChange: readonly PricedProduct[]
}

/** Less than this is no change. */
const NOTICEABLE = 0.0005

export function movementOf(change: number): Movement {
  if (change > NOTICEABLE) return Movement.Up
  return change < -NOTICEABLE ? Movement.Down : Movement.Same
}

/** Tells the products that have a newest price from those that have none. */
export function comparePrices(
  products: readonly Product[],
  { newest, rates }: Pick<NewestPrices, 'newest'> & { readonly rates: Rates },
): { readonly priced: PricedProduct[]; readonly unpriced: Product[] } {
  const priced: PricedProduct[] = []
  const unpriced: Product[] = []
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
  return { priced, unpriced }
}

export function describePrices(priced: readonly PricedProduct[]): Statistics {
  const moved = (movement: Movement) => priced.filter(({ change }) => movementOf(change) === movement)
  return {
    dearer: moved(Movement.Up),
    cheaper: moved(Movement.Down),
    average: meanChange(priced),
    stockBefore: sum(priced.map(({ before, stock }) => before * stock)),
    stockNow: sum(priced.map(({ now, stock }) => now * stock)),
    categories: groupBy(priced, 'category'),
    changeBySupplier: new Map(groupBy(priced, 'supplier').map(({ name, change }) => [name, change])),
    byChange: [...priced].sort((a, b) => b.change - a.change),
  }
}

function groupBy(items: readonly PricedProduct[], key: 'category' | 'supplier'): Group[] {
  const groups = new Map<string, PricedProduct[]>()
  for (const item of items) {
    const members = groups.get(item[key])
    if (members === undefined) groups.set(item[key], [item])
    else members.push(item)
  }
  return [...groups].map(([name, members]) => ({ name, items: members, change: meanChange(members) }))
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

const meanChange = (items: readonly PricedProduct[]): number =>
  sum(items.map(({ change }) => change)) / (items.length || 1)
