/** The product catalogue: 500 rows shipped as data, and a real Postgres in this process that holds them. */
import { readFile } from 'node:fs/promises'
import type { PGlite } from '@electric-sql/pglite'

export interface Product {
  readonly sku: string
  readonly name: string
  readonly category: string
  readonly unit: string
  /** In `currency`, as text with two decimals, because money is not a float. */
  readonly basePrice: string
  readonly currency: string
  readonly supplier: string
  readonly stock: number
  /** ISO 8601 date. */
  readonly updated: string
}

/** Reads `data/products.csv`. @throws Error for a line that has not exactly nine fields; none is quoted */
export async function readProducts(): Promise<readonly Product[]> {
  const text = await readFile(new URL('./data/products.csv', import.meta.url), 'utf8')
  const [, ...lines] = text.trimEnd().split('\n')
  return lines.map((line, at) => {
    const fields = line.split(',')
    if (fields.length !== 9 || line.includes('"'))
      throw new Error(`products.csv:${at + 2} has no nine plain fields`)
    const [sku, name, category, unit, basePrice, currency, supplier, stock, updated] = fields as [
      string,
      string,
      string,
      string,
      string,
      string,
      string,
      string,
      string,
    ]
    return { sku, name, category, unit, basePrice, currency, supplier, stock: Number(stock), updated }
  })
}

/** A Postgres in memory with the table `products`. Close it when done. */
export async function openCatalogue(products: readonly Product[]): Promise<PGlite> {
  // Only where a database is wanted: the module alone takes a while.
  const { PGlite } = await import('@electric-sql/pglite')
  const database = new PGlite()
  await database.exec(`
    CREATE TABLE products (
      sku        text PRIMARY KEY,
      name       text NOT NULL,
      category   text NOT NULL,
      unit       text NOT NULL,
      base_price numeric(10, 2) NOT NULL CHECK (base_price > 0),
      currency   char(3) NOT NULL,
      supplier   text NOT NULL,
      stock      integer NOT NULL CHECK (stock >= 0),
      updated    date NOT NULL
    )`)
  await database.query(
    `INSERT INTO products
     SELECT * FROM json_to_recordset($1::json) AS row(
       sku text, name text, category text, unit text, "basePrice" numeric, currency text,
       supplier text, stock integer, updated date)`,
    [JSON.stringify(products)],
  )
  return database
}
