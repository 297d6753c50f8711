/** What a shape accepts is what its JSON Schema accepts: read here by a validator that knows only the schema. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { arbitraryPlan } from '../run/arbitrary-plan.testkit.ts'
import { PlanProblems } from './plan-problem.ts'
import { PLAN_JSON_SCHEMA, PLAN_SHAPE } from './plan-shape.ts'

type Schema = Readonly<Record<string, unknown>>

const TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
  array: Array.isArray,
  object: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
}

function accepts(schema: Schema, value: unknown): boolean {
  return Object.entries(schema).every(([keyword, argument]) => holds(keyword, argument, value, schema))
}

/** One keyword of draft 2020-12; one that is not known here is an error of this test. */
function holds(keyword: string, argument: unknown, value: unknown, schema: Schema): boolean {
  const all = argument as readonly Schema[]
  const one = argument as Schema
  const most = argument as number
  const isText = typeof value === 'string'
  const isNumber = typeof value === 'number'
  const list = Array.isArray(value) ? (value as readonly unknown[]) : undefined
  const members =
    TYPES.object?.(value) === true ? Object.entries(value as Readonly<Record<string, unknown>>) : undefined
  switch (keyword) {
    case '$schema':
    case '$defs':
    case 'title':
    case 'description':
      return true
    case '$ref':
      return accepts(definition(argument as string), value)
    case 'type':
      return TYPES[argument as string]?.(value) === true
    case 'enum':
      return (argument as readonly unknown[]).includes(value)
    case 'not':
      return !accepts(one, value)
    case 'oneOf':
      return all.filter((option) => accepts(option, value)).length === 1
    case 'anyOf':
      return all.some((option) => accepts(option, value))
    case 'minLength':
      return !isText || value.length >= most
    case 'maxLength':
      return !isText || value.length <= most
    case 'pattern':
      return !isText || new RegExp(argument as string, 'u').test(value)
    case 'minimum':
      return !isNumber || value >= most
    case 'maximum':
      return !isNumber || value <= most
    case 'items':
      return list === undefined || list.every((element) => accepts(one, element))
    case 'minItems':
      return list === undefined || list.length >= most
    case 'maxItems':
      return list === undefined || list.length <= most
    case 'properties':
      return (members ?? []).every(
        ([name, member]) => !Object.hasOwn(one, name) || accepts(one[name] as Schema, member),
      )
    case 'required':
      return (
        members === undefined ||
        (argument as readonly string[]).every((name) => Object.hasOwn(value as object, name))
      )
    case 'additionalProperties': {
      const known = (schema.properties ?? {}) as object
      const others = (members ?? []).filter(([name]) => !Object.hasOwn(known, name))
      return argument === false ? others.length === 0 : others.every(([, member]) => accepts(one, member))
    }
    case 'propertyNames':
      return (members ?? []).every(([name]) => accepts(one, name))
    case 'minProperties':
      return members === undefined || members.length >= most
    case 'maxProperties':
      return members === undefined || members.length <= most
    default:
      throw new Error(`The schema uses "${keyword}", which this test does not know.`)
  }
}

function definition(reference: string): Schema {
  const name = /^#\/\$defs\/(\w+)$/.exec(reference)?.[1] ?? ''
  const found = (PLAN_JSON_SCHEMA.$defs as Readonly<Record<string, Schema>>)[name]
  if (found === undefined) throw new Error(`There is no ${reference}.`)
  return found
}

function problemsOf(value: unknown): number {
  const problems = new PlanProblems()
  PLAN_SHAPE.check(value, '', problems)
  return problems.count
}

/** Every place of a document, as a path of keys. */
function placesOf(value: unknown, path: readonly string[] = []): readonly (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [path]
  return [path, ...Object.entries(value).flatMap(([key, member]) => placesOf(member, [...path, key]))]
}

const RICH = {
  format: 'plan/1',
  name: 'rich',
  version: '1',
  description: 'x',
  grants: [
    'a.b',
    {
      capability: 'c.d',
      approve: true,
      calls: 1,
      rate: { calls: 1, perMs: 1 },
      budgets: { cents: 0.5 },
      only: { '/x': ['a', 1, null, true, { prefix: 'x' }, { min: 1, max: 2 }] },
    },
  ],
  budget: { fuel: 1, calls: 1, units: { cents: 0.5 } },
  nodes: {
    code: {
      kind: 'program',
      source: '1',
      modules: { './a.js': 'x' },
      limits: { fuel: 1 },
      retry: { attempts: 2, on: ['transient'] },
      fallback: [{ cached: { mostAgeMs: 1 } }, { ask: 'x', on: ['timeout'] }],
      compensate: { kind: 'call', capability: 'a.b' },
    },
    loop: {
      kind: 'loop',
      until: true,
      most: 1,
      do: { nodes: { wait: { kind: 'wait', event: 'x' } }, output: 1 },
    },
    choice: { kind: 'choice', cases: [{ when: 1, take: ['loop'] }], otherwise: [] },
  },
}

describe('the JSON Schema of plans', () => {
  it('accepts every plan', () => {
    expect(accepts(PLAN_JSON_SCHEMA, RICH)).toBe(true)
    fc.assert(
      fc.property(arbitraryPlan(1), (plan) => {
        expect(accepts(PLAN_JSON_SCHEMA, plan)).toBe(true)
      }),
      { numRuns: 30 },
    )
  })

  it('accepts exactly what the check of forms accepts, whatever stands at any one place', () => {
    const odd = fc.constantFrom<unknown>(
      '',
      'x',
      'a.b',
      'constructor',
      0,
      -1,
      1.5,
      2 ** 53,
      null,
      true,
      [],
      {},
      ['a'],
      { a: 1 },
    )
    const value = fc.oneof(odd, fc.jsonValue({ maxDepth: 2 }))
    const places = fc.constantFrom(...placesOf(RICH).filter((path) => path.length > 0))
    const key = fc.constantFrom(undefined, 'extra', 'constructor', '__proto__', 'kind', 'A', 'x'.repeat(65))
    fc.assert(
      fc.property(places, value, key, (path, other, renamed) => {
        const plan = structuredClone(RICH) as unknown as Record<string, unknown>
        let holder = plan
        for (const step of path.slice(0, -1)) holder = holder[step] as Record<string, unknown>
        const name = Array.isArray(holder) ? path.at(-1) : (renamed ?? path.at(-1))
        Object.defineProperty(holder, name as string, {
          value: other,
          enumerable: true,
          configurable: true,
          writable: true,
        })
        expect(problemsOf(plan) === 0).toBe(accepts(PLAN_JSON_SCHEMA, plan))
      }),
      { numRuns: 600 },
    )
  })
})
