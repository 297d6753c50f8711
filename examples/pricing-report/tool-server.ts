/** The server's side of the tools of a page: what is asked for is checked by the tool's own schema, and done here. */
import { CaissonError, type Capability, inputJsonSchemaOf, outputJsonSchemaOf } from '../../src/entry/node.ts'
import type { ToolAnswer, ToolCall, ToolDescription } from './page-tools.ts'

export class ToolServer {
  readonly #tools: ReadonlyMap<string, Capability>

  constructor(tools: readonly Capability[]) {
    // What goes on with the answers of another one stays in the process that has them.
    this.#tools = new Map(
      tools.filter(({ continues }) => continues === undefined).map((tool) => [tool.name, tool]),
    )
  }

  get descriptions(): readonly ToolDescription[] {
    return [...this.#tools.values()].map((tool) => {
      const { name, description, effect, idempotent = effect === 'read' } = tool
      const inputJsonSchema = inputJsonSchemaOf(tool)
      return {
        name,
        description,
        effect,
        idempotent,
        inputJsonSchema,
        outputJsonSchema: outputJsonSchemaOf(tool),
      }
    })
  }

  async answer(name: string, { args, key }: ToolCall): Promise<ToolAnswer> {
    const tool = this.#tools.get(name)
    if (tool === undefined || tool.sync === true)
      return { ok: false, code: 'unknown_capability', message: 'There is no such tool here.' }
    try {
      const checked = await tool.input?.['~standard'].validate(args)
      if (checked?.issues !== undefined)
        return { ok: false, code: 'invalid_arguments', message: 'The arguments are not what the tool takes.' }
      const life = { ended: false, onEnd: () => () => {} }
      const signal = new AbortController().signal
      const context = { signal, idempotencyKey: key, attempt: 1, life, decisions: async () => [] }
      return { ok: true, value: await tool.invoke(checked === undefined ? args : checked.value, context) }
    } catch (error) {
      if (CaissonError.is(error)) return { ok: false, code: error.code, message: error.message }
      return { ok: false, code: 'capability_failed', message: 'The tool failed.' }
    }
  }
}
