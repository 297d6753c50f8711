/**
 * JSON Schemas as TypeScript types, for people and models who write programs.
 *
 * A schema is data of an embedder or of somebody's tool: what is not understood becomes `unknown`, never an error, and
 * a type is as wide as the schema or wider. Sizes are bounded: beyond `MOST_NODES` everything is `unknown`.
 */
import type { JsonSchema } from './json-schema.ts'

/** Parts of a schema that are looked at. */
const MOST_NODES = 5_000
const MOST_DEPTH = 40
/** Values of an `enum` that are listed. */
const MOST_VALUES = 100
const MOST_TEXT = 500

/**
 * What `tsType` may say, for values that JSON Schema has no word for: the word of other tools that make types of schemas.
 */
const VALUE_TYPE =
  /^(?:Date|Map|Set|RegExp|bigint|ArrayBuffer|(?:Uint8Clamped|(?:Big)?(?:Ui|I)nt(?:8|16|32|64)|Float(?:32|64))Array)$/

/** What stands for a schema in a program. */
export interface SchemaType {
  /** A type expression. */
  readonly type: string
  /** Types that it names, by name. */
  readonly named: ReadonlyMap<string, string>
}

/**
 * @param name begins the names of types that refer to themselves: an identifier
 */
export function typeOfSchema(schema: JsonSchema, name: string): SchemaType {
  const writer = new TypeWriter(schema, name)
  const type = writer.typeOf(schema, 0)
  return { type, named: writer.named }
}

class TypeWriter {
  readonly named = new Map<string, string>()
  readonly #root: JsonSchema
  readonly #name: string
  readonly #references = new Map<string, string>()
  #nodes = 0

  constructor(root: JsonSchema, name: string) {
    this.#root = root
    this.#name = name
  }

  typeOf(schema: unknown, depth: number): string {
    this.#nodes += 1
    if (schema === false) return 'never'
    if (!isRecord(schema) || depth > MOST_DEPTH || this.#nodes > MOST_NODES) return 'unknown'
    if (typeof schema.tsType === 'string' && VALUE_TYPE.test(schema.tsType)) return schema.tsType
    if (typeof schema.$ref === 'string') return this.#reference(schema.$ref, depth)
    if (Object.hasOwn(schema, 'const')) return literal(schema.const)
    if (Array.isArray(schema.enum)) return anyOf(schema.enum.slice(0, MOST_VALUES).map(literal))
    const parts: string[] = []
    for (const key of ['anyOf', 'oneOf'] as const) {
      const choices = schema[key]
      if (Array.isArray(choices)) parts.push(anyOf(choices.map((one) => this.typeOf(one, depth + 1))))
    }
    if (Array.isArray(schema.allOf)) parts.push(...schema.allOf.map((one) => this.typeOf(one, depth + 1)))
    const own = this.#own(schema, depth)
    if (own !== undefined) parts.push(own)
    return allOf(parts)
  }

  /** What a schema says of itself, without what it refers to. */
  #own(schema: JsonSchema, depth: number): string | undefined {
    const types = typeof schema.type === 'string' ? [schema.type] : schema.type
    if (Array.isArray(types)) return anyOf(types.map((type) => this.#simple(type, schema, depth)))
    if (isRecord(schema.properties)) return this.#object(schema, depth)
    if (schema.items !== undefined || Array.isArray(schema.prefixItems)) return this.#array(schema, depth)
    return undefined
  }

  #simple(type: unknown, schema: JsonSchema, depth: number): string {
    switch (type) {
      case 'string':
      case 'boolean':
      case 'null':
        return type
      case 'number':
      case 'integer':
        return 'number'
      case 'array':
        return this.#array(schema, depth)
      case 'object':
        return this.#object(schema, depth)
      default:
        return 'unknown'
    }
  }

  #array({ items, prefixItems }: JsonSchema, depth: number): string {
    const rest = items === undefined ? 'unknown' : this.typeOf(items, depth + 1)
    if (!Array.isArray(prefixItems)) return `${inBrackets(rest)}[]`
    const first = prefixItems.map((item) => this.typeOf(item, depth + 1))
    return `[${[...first, ...(items === false ? [] : [`...${inBrackets(rest)}[]`])].join(', ')}]`
  }

  #object({ properties, required, additionalProperties }: JsonSchema, depth: number): string {
    const needed = new Set(Array.isArray(required) ? required : [])
    const own = isRecord(properties) ? Object.entries(properties) : []
    const lines = own.map(([key, schema]) => {
      const optional = needed.has(key) ? '' : '?'
      return `${comment(schema)}${propertyName(key)}${optional}: ${this.typeOf(schema, depth + 1)}`
    })
    const rest =
      additionalProperties === undefined && own.length > 0
        ? undefined
        : this.typeOf(additionalProperties ?? true, depth + 1)
    // The type of an index has to fit those of all properties, which it rarely does.
    if (rest !== undefined && rest !== 'never')
      lines.push(`[key: string]: ${own.length > 0 ? 'unknown' : rest}`)
    return lines.length === 0 ? 'Record<string, never>' : `{ ${lines.join('; ')} }`
  }

  #reference(pointer: string, depth: number): string {
    const known = this.#references.get(pointer)
    if (known !== undefined) return known
    const target = pointer === '#' ? this.#root : valueAt(this.#root, pointer)
    if (target === undefined) return 'unknown'
    const last = identifier(pointer.split('/').at(-1) ?? '')
    let name = `${this.#name}${last}`
    while (this.named.has(name)) name += '_'
    this.#references.set(pointer, name)
    this.named.set(name, 'unknown')
    this.named.set(name, this.typeOf(target, depth + 1))
    return name
  }
}

/** A description as a comment before what it describes, or nothing. */
function comment(schema: unknown): string {
  const text = isRecord(schema) && typeof schema.description === 'string' ? schema.description : ''
  return text.trim() === '' ? '' : `/** ${commentText(text)} */ `
}

/** Text that ends no comment, on one line. */
export function commentText(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what moves the cursor has no place in a comment.
  const line = text.slice(0, MOST_TEXT).replace(/[\s\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ')
  return line.trim().replaceAll('*/', '*\\/')
}

/** A name as it stands in an object type. */
export function propertyName(key: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(key) ? key : JSON.stringify(key)
}

/** What of `text` may begin with an upper-case letter in an identifier. */
export function identifier(text: string): string {
  const letters = text.slice(0, 64).replace(/[^A-Za-z0-9_]/g, '')
  return letters.charAt(0).toUpperCase() + letters.slice(1)
}

function literal(value: unknown): string {
  if (typeof value === 'string') return value.length > MOST_TEXT ? 'string' : JSON.stringify(value)
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : 'number'
  return typeof value === 'boolean' || value === null ? String(value) : 'unknown'
}

function anyOf(types: readonly string[]): string {
  const distinct = [...new Set(types)].filter((type) => type !== 'never')
  if (distinct.includes('unknown')) return 'unknown'
  if (distinct.length === 1) return distinct[0] as string
  return distinct.length === 0 ? 'never' : distinct.map(inBrackets).join(' | ')
}

function allOf(types: readonly string[]): string {
  const distinct = [...new Set(types)].filter((type) => type !== 'unknown')
  if (distinct.length === 1) return distinct[0] as string
  return distinct.length === 0 ? 'unknown' : distinct.map(inBrackets).join(' & ')
}

/** A type that binds as tightly as it needs to beside `|`, `&` and `[]`. */
function inBrackets(type: string): string {
  return /^(?:[\w$.]+|"[^"\\]*"|\{ [^{}]* \})$/.test(type) ? type : `(${type})`
}

function valueAt(root: JsonSchema, pointer: string): unknown {
  if (!pointer.startsWith('#/')) return undefined
  let value: unknown = root
  for (const part of pointer.slice(2).split('/', MOST_DEPTH)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
    if (!isRecord(value) || !Object.hasOwn(value, key)) return undefined
    value = value[key]
  }
  return value
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
