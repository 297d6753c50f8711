/**
 * The WIT package of capabilities: an interface for each namespace, and a world that imports them all. Beside a
 * component's own world, `include caisson:capabilities/granted-capabilities;` imports what was granted.
 */
import type { Capability } from '../capability/capability.ts'
import { inputJsonSchemaOf, outputJsonSchemaOf } from '../capability/json-schema.ts'
import { commentText } from '../capability/type-of-schema.ts'
import { GRANTED_PACKAGE, placesOf, sameName, witId, witPlaceOf } from './wit-names.ts'
import { type Definitions, witTypeOfSchema } from './wit-type-of-schema.ts'

const WORLD = 'granted-capabilities'
/** What a call that was refused or failed gives. */
const FAILURE = 'record failure {\n    code: string,\n    message: string,\n  }'

interface Interface {
  readonly definitions: Definitions
  readonly functions: string[]
}

/**
 * @throws CaissonError `schema_required` for a capability without JSON Schemas, `invalid_argument` for a schema that WIT has no
 *   words for (`details: { capability, path }`), and where two names are one in WIT
 */
export function witPackage(capabilities: readonly Capability[]): string {
  const sorted = [...capabilities].sort((a, b) => (a.name < b.name ? -1 : 1))
  placesOf(sorted)
  const interfaces = new Map<string, Interface>()
  for (const capability of sorted) {
    const place = witPlaceOf(capability.name)
    const name = place.interface.slice(GRANTED_PACKAGE.length + 1)
    if (name === WORLD) throw sameName(capability.name, 'the world of all that is granted', WORLD)
    const into = interfaces.get(name) ?? emptyInterface()
    interfaces.set(name, into)
    declare(capability, place.func, into)
  }
  const parts = [...interfaces].map(([name, { definitions, functions }]) => {
    const types = [...definitions.values()].map(({ text }) => text).filter((text) => text !== '')
    return `interface ${witId(name)} {\n${[...types, ...functions].map((text) => `  ${text}\n`).join('\n')}}\n`
  })
  const imports = [...interfaces.keys()].map((name) => `  import ${witId(name)};\n`)
  return [`package ${GRANTED_PACKAGE};\n`, ...parts, `world ${WORLD} {\n${imports.join('')}}\n`].join('\n')
}

function emptyInterface(): Interface {
  return {
    definitions: new Map([['failure', { text: FAILURE, from: 'the record of failures' }]]),
    functions: [],
  }
}

function declare(capability: Capability, func: string, { definitions, functions }: Interface): void {
  const { name } = capability
  const taken = definitions.get(func)
  if (taken !== undefined) throw sameName(taken.from, name, func)
  // Types and functions of an interface share their names.
  definitions.set(func, { text: '', from: name })
  const input = witTypeOfSchema(
    inputJsonSchemaOf(capability),
    { capability: name, side: 'input', name: `${func}-input` },
    definitions,
  )
  const output = witTypeOfSchema(
    outputJsonSchemaOf(capability),
    { capability: name, side: 'output', name: `${func}-output` },
    definitions,
  )
  const text = commentText(capability.description)
  const about = text === '' ? '' : `/// ${text}\n  `
  const parameter = input === undefined ? '' : `input: ${input}`
  functions.push(`${about}${witId(func)}: func(${parameter}) -> result<${output ?? '_'}, failure>;`)
}
