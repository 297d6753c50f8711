/**
 * Capabilities as a guest sees them, in TypeScript: for the editor of a person who writes a program, and for a model
 * that is told what it may call.
 */

import { CaissonError } from '../base/errors.ts'
import type { Capability } from './capability.ts'
import { inputJsonSchemaOf, type JsonSchema, outputJsonSchemaOf } from './json-schema.ts'
import { commentText, identifier, propertyName, type SchemaType, typeOfSchema } from './type-of-schema.ts'

/** A namespace of globals: its functions and the namespaces within, by name. */
interface Namespace {
  readonly [name: string]: Namespace | Capability
}

/**
 * Declarations of the globals that grants of these capabilities put into a guest. Types that have no JSON Schema are
 * `unknown`.
 */
export function declareCapabilities(capabilities: readonly Capability[]): string {
  const named = new Map<string, string>()
  const globals = Object.entries(namespacesOf(capabilities)).map(
    ([name, part]) => `declare const ${name}: ${declare(part, named, '')}\n`,
  )
  const aliases = [...named].map(([name, type]) => `type ${name} = ${type}\n`)
  return [...globals, ...aliases].join('\n')
}

function namespacesOf(capabilities: readonly Capability[]): Namespace {
  const root: Record<string, Namespace | Capability> = Object.create(null)
  for (const capability of [...capabilities].sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = capability.name.split('.')
    const last = path.pop() as string
    let place = root
    for (const part of path) {
      place[part] ??= Object.create(null) as Namespace
      place = place[part] as Record<string, Namespace | Capability>
    }
    place[last] = capability
  }
  return root
}

function declare(part: Namespace | Capability, named: Map<string, string>, indent: string): string {
  if (isCapability(part)) return signature(part, named)
  const inner = `${indent}  `
  const members = Object.entries(part).map(([name, member]) => {
    const about = isCapability(member) ? documentation(member, inner) : ''
    return `${about}${inner}readonly ${propertyName(name)}: ${declare(member, named, inner)}\n`
  })
  return `{\n${members.join('')}${indent}}`
}

function isCapability(part: Namespace | Capability): part is Capability {
  return typeof part.invoke === 'function'
}

function documentation({ description, effect, sync }: Capability, indent: string): string {
  const notes = [
    effect === 'read' ? 'Reads.' : effect === 'write' ? 'Writes.' : 'Destroys.',
    ...(sync === true ? ['Answers at once: no await.'] : []),
  ]
  const text = commentText(description ?? '').replace(/[^.!?]$/, '$&.')
  return `${indent}/** ${[text, ...notes].filter((part) => part !== '').join(' ')} */\n`
}

function signature(capability: Capability, named: Map<string, string>): string {
  const name = identifier(capability.name.split('.').map(identifier).join(''))
  const input = typeFrom(() => inputJsonSchemaOf(capability), `${name}Input`)
  const output = typeFrom(() => outputJsonSchemaOf(capability), `${name}Output`)
  for (const types of [input, output]) for (const [alias, type] of types?.named ?? []) named.set(alias, type)
  const parameter = input === undefined ? 'input?: unknown' : `input: ${input.type}`
  const result = output?.type ?? 'unknown'
  return `(${parameter}) => ${capability.sync === true ? result : `Promise<${result}>`}`
}

/** Undefined where there is no schema to be had. */
function typeFrom(schemaOf: () => JsonSchema, name: string): SchemaType | undefined {
  try {
    return typeOfSchema(schemaOf(), name)
  } catch (error) {
    if (CaissonError.is(error, 'schema_required')) return undefined
    throw error
  }
}
