/** Has the WIT tools of others read a package: what they refuse, they throw. */
import { componentEmbed, componentNew } from '@bytecodealliance/jco-transpile/wasm-tools'
import type { Capability } from '../capability/capability.ts'
import { capability } from '../capability/define-capability.ts'
import type { JsonSchema } from '../capability/json-schema.ts'
import { readComponent } from './binary/read-component.ts'
import { type ComponentShape, describeComponent } from './component-shape.ts'
import { witPackage } from './wit-package.ts'

const WORLD = 'granted-capabilities'

/** A component that imports all of a package, and does nothing; what it says of itself. */
export async function shapeOfWit(wit: string): Promise<ComponentShape> {
  const embedded = await componentEmbed({ witSource: wit, world: WORLD, dummy: true })
  const bytes = await componentNew(embedded, [])
  return describeComponent(readComponent(bytes).root)
}

/** @param schemas of input and output */
export function withSchemas(
  name: string,
  input: JsonSchema,
  output: JsonSchema = { type: 'null' },
): Capability {
  return capability({
    name,
    description: 'One of a test',
    effect: 'read',
    inputJsonSchema: input,
    outputJsonSchema: output,
    invoke: () => null,
  })
}

/** The type of the `input` of one capability with this schema, as text. */
export function witOfInput(schema: JsonSchema): string {
  const text = witPackage([withSchemas('a.f', schema)])
  return /f: func\((?:input: )?(.*)\) -> /.exec(text)?.[1] ?? text
}
