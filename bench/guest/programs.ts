/** TypeScript as people and models write it for guests. */

/** A program of 20 lines with two awaited calls of a host function named `lookup`, and a body that returns. */
export function oneShotSource(lookup: string, round: number): string {
  return `interface Price { sku: string; price: number }
type Currency = 'EUR' | 'USD'

const currency: Currency = 'EUR'
const round = ${round}

function format(value: number, digits = 2): string {
  return value.toFixed(digits) + ' ' + currency
}

async function total(skus: readonly string[]): Promise<number> {
  let sum = 0
  for (const sku of skus) {
    const found = (await ${lookup}({ sku })) as Price
    sum += found.price
  }
  return sum
}
const sum = await total(['a', 'b'])
return format(sum satisfies number)
`
}

/** What it returns. */
export const ONE_SHOT_VALUE = '3.00 EUR'

/** The host's function. */
export async function lookup(args: unknown): Promise<{ sku: string; price: number }> {
  const { sku } = args as { sku: string }
  return { sku, price: sku === 'a' ? 1 : 2 }
}

/** 200 lines: interfaces, classes, generics, unions, an enum. */
export function longSource(round: number): string {
  const part = (i: number): string => `interface Item${i} {
  readonly id: number
  name: string
  tags?: readonly string[]
}
enum State${i} { Open = ${i}, Closed }
class Store${i}<T extends Item${i}> {
  private readonly items = new Map<number, T>()
  constructor(private readonly state: State${i} = State${i}.Open) {}
  add(item: T): this {
    this.items.set(item.id, item)
    return this
  }
  find(id: number): T | undefined {
    return this.items.get(id)
  }
  names(): string[] {
    return [...this.items.values()].map((item) => \`\${item.name}:\${this.state}\`)
  }
}`
  return [`// ${round}`, ...Array.from({ length: 10 }, (_, i) => part(i)), 'export {}'].join('\n')
}
