/** Tools of a server as capabilities of a page: described as they are there, and called there. */
import { CaissonError, type Capability, capability, type ErrorCode } from '../../src/entry/exports.ts'

/** A tool as it describes itself. Plain JSON. */
export type ToolDescription = Pick<
  Capability,
  'name' | 'description' | 'effect' | 'idempotent' | 'inputJsonSchema' | 'outputJsonSchema'
>

export interface ToolCall {
  readonly args: unknown
  /** Of the call: the same for every attempt at it. */
  readonly key: string
}

export type ToolAnswer =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly code: ErrorCode; readonly message: string }

export function toolsOfServer(tools: readonly ToolDescription[]): readonly Capability[] {
  return tools.map((tool) =>
    capability({
      ...tool,
      // What the server says is for the program as much as for us.
      expose: (error) => (CaissonError.is(error) ? error : undefined),
      invoke: async (args: unknown, { idempotencyKey: key, signal }) => {
        const body = JSON.stringify({ args, key } satisfies ToolCall)
        const response = await fetch(`/tools/${tool.name}`, { method: 'POST', body, signal })
        const answer = (await response.json()) as ToolAnswer
        if (answer.ok) return answer.value
        throw new CaissonError(answer.code, answer.message)
      },
    }),
  )
}
