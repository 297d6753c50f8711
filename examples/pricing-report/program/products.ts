/** The catalogue, as far as the report needs it. */

export type Currency = 'EUR' | 'USD' | 'GBP'

export interface Product {
  readonly sku: string
  readonly name: string
  readonly category: string
  readonly unit: string
  readonly base_price: number
  readonly currency: Currency
  readonly supplier: string
  readonly stock: number
}

export interface Supplier {
  readonly supplier: string
  readonly products: number
}

export function readProducts(): Promise<Product[]> {
  return select(
    `SELECT sku, name, category, unit, base_price::float8 AS base_price, currency, supplier, stock
            FROM products
           ORDER BY category, sku`,
  )
}

/** Suppliers, the largest first. @param notes hears of what they had to be read without */
export async function readSuppliers(notes: string[]): Promise<Supplier[]> {
  try {
    return await select(
      `SELECT supplier, count(*)::int AS products, avg(lead_time_days)::float8 AS lead_time
              FROM products GROUP BY supplier ORDER BY products DESC`,
    )
  } catch (error) {
    const { code } = error as { readonly code?: string }
    console.warn(`supplier query failed (${code}): trying again without lead times`)
    notes.push('Lead times are left out: the catalogue does not have them.')
    return select(
      `SELECT supplier, count(*)::int AS products
              FROM products GROUP BY supplier ORDER BY products DESC, supplier`,
    )
  }
}

/** The rows are what the query says; nobody checks that. */
async function select<Row>(text: string): Promise<Row[]> {
  const { rows } = await sql.query({ text })
  return rows as unknown[] as Row[]
}
