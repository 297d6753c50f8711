/** What the page and the test beside it both have: what a component calls, and how its end is told. */

/** Answers later. */
export const HOST_CALL = {
  name: 'hostCall',
  description: 'Answers later.',
  effect: 'write',
  invoke: async (input: unknown): Promise<string> => {
    const { name, arguments: json } = input as { name: string; arguments: string }
    await new Promise((resolve) => setTimeout(resolve, 1))
    return `${name}(${json})`
  },
} as const

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
