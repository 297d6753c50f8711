/**
 * A component as the implementation of a capability: a sandboxed tool behind the gate, also for calls of other guests.
 *
 * Invariants
 * 1. The component sees what the gate let through, and its answer is checked by the gate as anybody's.
 * 2. A component takes one call at a time: others wait in line. One that has ended is opened anew for the next call, where
 *    the embedder said how.
 */
import { CaissonError } from '../../base/errors.ts'
import { clipText } from '../../base/escape-text.ts'
import type { AsyncCapability } from '../../capability/capability.ts'
import { capability } from '../../capability/define-capability.ts'
import { inputJsonSchemaOf, type JsonSchema } from '../../capability/json-schema.ts'
import type { FunctionType } from '../../component/abi/wit-type.ts'
import type { ComponentOutcome } from '../../component/component-outcome.ts'
import type { OpenComponent } from '../../component/open-component.ts'

/** What a capability is beside its implementation. */
export type ComponentCapabilityDefinition<Input, Output> = Omit<
  AsyncCapability<Input, Output>,
  'invoke' | 'sync'
>

/**
 * Parameters of the export are properties of the input; a single parameter `input` is the input itself. An `err` of the
 * export is a failure `capability_failed` whose cause says what the component said.
 *
 * @param component open, or how it is opened when it is first needed and when the one before has ended
 * @param exportName as `call` takes it
 * @throws CaissonError `invalid_capability`
 */
export function componentCapability<Input, Output>(
  component: OpenComponent | (() => Promise<OpenComponent>),
  exportName: string,
  definition: ComponentCapabilityDefinition<Input, Output>,
): AsyncCapability<Input, Output> {
  const open = typeof component === 'function' ? component : undefined
  let opened = typeof component === 'function' ? undefined : component
  let line: Promise<unknown> = Promise.resolve()
  const schema = schemaOf(definition as AsyncCapability)

  const call = async (input: unknown, signal: AbortSignal): Promise<unknown> => {
    if (signal.aborted) throw new CaissonError('aborted', 'The call was aborted before its turn came.')
    if (open !== undefined && (opened === undefined || opened.state === 'over')) opened = await open()
    const held = opened as OpenComponent
    const type = held.exports.find(({ name }) => name === exportName)?.type
    const { plainOf, argumentsOf } = await import('../../component/wit-value.ts')
    const args = type === undefined ? [] : argumentsOf(type.params, input, schema)
    const value = okOf(await held.call(exportName, args, { signal }), type)
    return value === undefined ? undefined : plainOf(value.type, value.value)
  }

  return capability<Input, Output>({
    ...definition,
    invoke: (input, { signal }) => {
      const turn = line.then(() => call(input, signal))
      line = turn.catch(() => {})
      return turn as Promise<Output>
    },
  } as AsyncCapability<Input, Output>) as AsyncCapability<Input, Output>
}

/** @throws CaissonError where the component did not complete, or said `err` */
function okOf(
  outcome: ComponentOutcome,
  type: FunctionType | undefined,
): { readonly type: NonNullable<FunctionType['result']>; readonly value: unknown } | undefined {
  const result = type?.result
  switch (outcome.status) {
    case 'completed': {
      if (result === undefined) return undefined
      if (result.kind !== 'result') return { type: result, value: outcome.value }
      const { tag, val } = outcome.value as { tag: 'ok' | 'err'; val?: unknown }
      if (tag === 'err') throw failed(`The component refused: ${clipText(textOf(val), 500)}`)
      const ok = result.cases[0]?.type
      return ok && { type: ok, value: val }
    }
    case 'failed':
      throw failed(`The component failed: ${clipText(outcome.error.message, 500)}`)
    case 'exhausted':
      throw failed(outcome.message)
    case 'exited':
      throw failed(`The component exited with ${outcome.exitCode}.`)
    case 'suspended':
      throw failed('The component waits for somebody.')
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}

function failed(message: string): CaissonError {
  return new CaissonError('capability_failed', message)
}

/** A hint for names: what has no schema has names in camelCase. */
function schemaOf(definition: AsyncCapability): JsonSchema | undefined {
  try {
    return inputJsonSchemaOf(definition)
  } catch {
    return undefined
  }
}
