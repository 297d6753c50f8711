/** An outcome of a component, but for what differs from time to time. */
export interface ToldRun {
  readonly status: string
  readonly value: unknown
  readonly code: unknown
  readonly limit: unknown
  readonly fuel: number
  readonly calls: number
}

/** Of the package's types in the page, and of the sources' beside it. */
interface Outcome {
  readonly status: string
  readonly value?: unknown
  readonly error?: { readonly code?: string }
  readonly limit?: string
  readonly usage: { readonly fuel: number; readonly calls: number }
}

export function toldRun({ status, value, error, limit, usage }: Outcome): ToldRun {
  return { status, value, code: error?.code, limit, fuel: usage.fuel, calls: usage.calls }
}
