/**
 * What may stand at a place of a document: one description that checks it, and tells it as JSON Schema.
 *
 * Invariants
 * 1. A shape accepts what its JSON Schema accepts (but for lengths counted in UTF-16 units), and nothing else.
 * 2. A check reads own properties only, and never throws for what it is given.
 */
import { clipText, escapeText } from '../../base/escape-text.ts'
import { nearNames } from '../../capability/near-names.ts'
import { type PlanProblems, pointerTo } from './plan-problem.ts'

export type JsonSchema = Readonly<Record<string, unknown>>

export interface Shape {
  readonly schema: JsonSchema
  check(value: unknown, at: string, problems: PlanProblems): void
}

/** A text. @param what says what it is to be, where the pattern does not speak for itself */
export function text(
  {
    min = 0,
    max,
    pattern,
    what,
  }: { readonly min?: number; readonly max: number; readonly pattern?: RegExp; readonly what?: string },
  description?: string,
): Shape {
  return {
    schema: {
      type: 'string',
      ...(description !== undefined && { description }),
      ...(min > 0 && { minLength: min }),
      maxLength: max,
      ...(pattern && { pattern: pattern.source }),
    },
    check(value, at, problems) {
      if (typeof value === 'number' || typeof value === 'boolean')
        problems.add(at, `must be a text, not ${nameOf(value)}: put it in quotes`)
      else if (typeof value !== 'string') problems.add(at, `must be a text, not ${nameOf(value)}`)
      else if (value.length < min || value.length > max)
        problems.add(at, `must have ${min} to ${max} characters`)
      else if (pattern !== undefined && !pattern.test(value))
        problems.add(at, `${shown(value)} is not ${what ?? `of the form ${pattern.source}`}`)
    },
  }
}

/** A number from `min` to `max`, whole unless told otherwise. */
export function number(
  { min, max, whole = true }: { min: number; max: number; whole?: boolean },
  description?: string,
): Shape {
  return {
    schema: {
      type: whole ? 'integer' : 'number',
      ...(description !== undefined && { description }),
      minimum: min,
      maximum: max,
    },
    check(value, at, problems) {
      const fits = typeof value === 'number' && value >= min && value <= max
      if (!fits || (whole && !Number.isSafeInteger(value)))
        problems.add(
          at,
          `must be a ${whole ? 'whole ' : ''}number from ${min} to ${max}, not ${nameOf(value)}`,
        )
    },
  }
}

export const flag: Shape = {
  schema: { type: 'boolean' },
  check(value, at, problems) {
    if (typeof value !== 'boolean') problems.add(at, `must be true or false, not ${nameOf(value)}`)
  },
}

/** One of these texts. */
export function oneOf(names: readonly string[], description?: string): Shape {
  return {
    schema: { ...(description !== undefined && { description }), enum: names },
    check(value, at, problems) {
      if (typeof value === 'string' && names.includes(value)) return
      const near = typeof value === 'string' ? nearNames(value, names) : []
      const meant = near.length > 0 ? ` (did you mean "${near[0]}"?)` : ''
      problems.add(
        at,
        `must be ${names.map((name) => `"${name}"`).join(' or ')}, not ${nameOf(value)}${meant}`,
      )
    },
  }
}

/** @param of says what is in it, where that does not go without saying: "argument rules, such as ["a"]" */
export function list(
  item: Shape,
  { min = 0, max, of }: { min?: number; max: number; of?: string },
  description?: string,
): Shape {
  return {
    schema: {
      type: 'array',
      ...(description !== undefined && { description }),
      items: item.schema,
      ...(min > 0 && { minItems: min }),
      maxItems: max,
    },
    check(value, at, problems) {
      if (!Array.isArray(value))
        return problems.add(at, `must be a list${of === undefined ? '' : ` of ${of}`}, not ${nameOf(value)}`)
      if (value.length < min || value.length > max)
        return problems.add(at, `must have ${min} to ${max} elements, and has ${value.length}`)
      for (const [i, element] of value.entries()) item.check(element, pointerTo(at, i), problems)
    },
  }
}

/** An object with keys of its author's. @param keyProblem what is wrong with a key, as the end of a sentence */
export function record(
  value: Shape,
  keys: {
    readonly pattern: string
    /** Keys that fit the pattern and yet may not be. */
    readonly reserved?: readonly string[]
    readonly problem: (key: string) => string | undefined
    readonly min?: number
    readonly max: number
    /** What is in it, where that does not go without saying. */
    readonly of?: string
  },
  description?: string,
): Shape {
  const { min = 0, max, pattern, reserved, of } = keys
  return {
    schema: {
      type: 'object',
      ...(description !== undefined && { description }),
      propertyNames: { pattern, ...(reserved && { not: { enum: reserved } }) },
      additionalProperties: value.schema,
      ...(min > 0 && { minProperties: min }),
      maxProperties: max,
    },
    check(given, at, problems) {
      if (!isObject(given))
        return problems.add(
          at,
          `must be an object${of === undefined ? '' : ` of ${of}`}, not ${nameOf(given)}`,
        )
      const names = Object.keys(given)
      if (names.length < min || names.length > max)
        return problems.add(at, `must have ${min} to ${max} members, and has ${names.length}`)
      for (const name of names) {
        const problem = keys.problem(name)
        if (problem === undefined) value.check(given[name], pointerTo(at, name), problems)
        else problems.add(pointerTo(at, name), problem)
      }
    },
  }
}

/** An object with exactly these members. */
export function fields(
  members: Readonly<Record<string, Shape>>,
  required: readonly string[],
  description?: string,
): Shape {
  const known = Object.keys(members)
  return {
    schema: {
      type: 'object',
      ...(description !== undefined && { description }),
      properties: Object.fromEntries(known.map((name) => [name, members[name]?.schema])),
      required,
      additionalProperties: false,
    },
    check(given, at, problems) {
      if (!isObject(given)) return problems.add(at, `must be an object, not ${nameOf(given)}`)
      for (const name of Object.keys(given)) {
        const member = Object.hasOwn(members, name) ? members[name] : undefined
        if (member === undefined) problems.add(pointerTo(at, name), unknownMember(name, known))
        else if (given[name] === undefined) problems.add(pointerTo(at, name), 'must not be undefined')
        else member.check(given[name], pointerTo(at, name), problems)
      }
      for (const name of required) if (!Object.hasOwn(given, name)) problems.add(at, `"${name}" is missing`)
    },
  }
}

/** Objects told apart by the text in one member, which each of the shapes demands. */
export function variants(key: string, shapes: Readonly<Record<string, Shape>>): Shape {
  const names = Object.keys(shapes)
  const choice = oneOf(names)
  return {
    schema: { oneOf: names.map((name) => shapes[name]?.schema) },
    check(given, at, problems) {
      if (!isObject(given)) return problems.add(at, `must be an object, not ${nameOf(given)}`)
      if (!Object.hasOwn(given, key))
        return problems.add(at, `"${key}" is missing: ${names.map((name) => `"${name}"`).join(' or ')}`)
      const kind = given[key]
      const shape = typeof kind === 'string' && Object.hasOwn(shapes, kind) ? shapes[kind] : undefined
      if (shape === undefined) choice.check(kind, pointerTo(at, key), problems)
      else shape.check(given, at, problems)
    },
  }
}

/** The first of these whose `holds` says so; what fits none is told by `what`. */
export function either(
  options: readonly { readonly holds: (value: unknown) => boolean; readonly shape: Shape }[],
  what: string,
): Shape {
  return {
    schema: { anyOf: options.map(({ shape }) => shape.schema) },
    check(value, at, problems) {
      const option = options.find(({ holds }) => holds(value))
      if (option === undefined) problems.add(at, `must be ${what}, not ${nameOf(value)}`)
      else option.shape.check(value, at, problems)
    },
  }
}

/** Shapes with names: a schema tells each of them once, and one may hold itself. */
export class NamedShapes {
  readonly #shapes = new Map<string, () => Shape>()

  /** @param make is called when the shape is first needed */
  define(name: string, make: () => Shape): Shape {
    let made: Shape | undefined
    const shape = (): Shape => {
      made ??= make()
      return made
    }
    this.#shapes.set(name, shape)
    return {
      schema: { $ref: `#/$defs/${name}` },
      check: (value, at, problems) => shape().check(value, at, problems),
    }
  }

  /** `$defs` of a schema that uses them. */
  get schemas(): Readonly<Record<string, JsonSchema>> {
    return Object.fromEntries([...this.#shapes].map(([name, shape]) => [name, shape().schema]))
  }
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A value as it is named in a problem. */
function nameOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'an object'
  return typeof value === 'string' ? shown(value) : `${value as number | boolean | undefined}`
}

function shown(value: string): string {
  return `"${escapeText(clipText(value, 60))}"`
}

function unknownMember(name: string, known: readonly string[]): string {
  const near = nearNames(name, known)
  const meant = near.length > 0 ? ` Did you mean "${near[0]}"?` : ''
  return `is not known here.${meant} Known: ${known.join(', ')}`
}
