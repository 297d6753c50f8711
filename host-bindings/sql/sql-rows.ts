/** Rows on their way to a program: counted, measured, and as objects under unambiguous names. */
import { CaissonError } from '../../src/base/errors.ts'
import { approximateBytes } from '../approximate-size.ts'

/** How much one call may return. */
export interface RowLimits {
  readonly maxRows: number
  /** Approximate bytes of all values together. */
  readonly maxBytes: number
}

/** What a program gets. */
export interface SqlRows {
  /** Names of the columns in order; a name that occurs again gets a number: `id`, `id_2`. */
  readonly columns: readonly string[]
  readonly rows: readonly Readonly<Record<string, unknown>>[]
}

/** Collects rows batch by batch, and refuses what exceeds the limits as soon as it does. */
export class RowCollector {
  private columns: readonly string[] = []
  private readonly rows: Record<string, unknown>[] = []
  private bytes = 0
  private readonly limits: RowLimits

  constructor(limits: RowLimits) {
    this.limits = limits
  }

  /** @throws CaissonError `result_too_large` with `details: { limit, unit }` */
  add(fields: readonly { readonly name: string }[], rows: readonly (readonly unknown[])[]): void {
    if (this.columns.length === 0) this.columns = uniqueNames(fields.map(({ name }) => name))
    for (const row of rows) {
      if (this.rows.length >= this.limits.maxRows) throw tooLarge(this.limits.maxRows, 'rows')
      this.bytes += approximateBytes(row, this.limits.maxBytes)
      if (this.bytes > this.limits.maxBytes) throw tooLarge(this.limits.maxBytes, 'bytes')
      // fromEntries defines properties: a column may be called "__proto__".
      this.rows.push(Object.fromEntries(this.columns.map((column, index) => [column, row[index]])))
    }
  }

  result(): SqlRows {
    return { columns: this.columns, rows: this.rows }
  }
}

function uniqueNames(names: readonly string[]): readonly string[] {
  const taken = new Set<string>()
  for (const name of names) {
    let unique = name
    for (let count = 2; taken.has(unique) || (unique !== name && names.includes(unique)); count++) {
      unique = `${name}_${count}`
    }
    taken.add(unique)
  }
  return [...taken]
}

function tooLarge(limit: number, unit: string): CaissonError {
  return new CaissonError(
    'result_too_large',
    `The query returns more than ${limit} ${unit}; select less, aggregate, or use LIMIT.`,
    { details: { limit, unit } },
  )
}
