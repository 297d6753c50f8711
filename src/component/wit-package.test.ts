import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { capability } from '../capability/define-capability.ts'
import type { JsonSchema } from '../capability/json-schema.ts'
import { shapeOfWit, withSchemas, witOfInput } from './wit.testkit.ts'
import { kebabName, placesOf, witPlaceOf } from './wit-names.ts'
import { witPackage } from './wit-package.ts'

const invoke = (): never => {
  throw new Error('never called')
}
const object = (properties: object, required: readonly string[] = Object.keys(properties)): JsonSchema => ({
  type: 'object',
  properties,
  required,
})
const text = { type: 'string' }

describe('names in WIT', () => {
  it.each([
    ['lookup', 'lookup'],
    ['listAll', 'list-all'],
    ['max_items', 'max-items'],
    ['getURL', 'get-url'],
    ['HTTPHost', 'http-host'],
    ['page2', 'page2'],
    ['top-10', 'top10'],
    ['a b', 'a-b'],
    ['größe', undefined],
    ['2fast', undefined],
    ['_', undefined],
    ['', undefined],
  ])('%s is %s', (name, kebab) => {
    expect(kebabName(name)).toBe(kebab)
  })

  it('lead to one place for each capability, and are refused where they would not', () => {
    expect(witPlaceOf('shop.prices.listAll')).toEqual({
      interface: 'caisson:capabilities/shop-prices',
      func: 'list-all',
    })
    expect(witPlaceOf('lookup').interface).toBe('caisson:capabilities/globals')
    for (const [one, other] of [
      ['shop.prices.list', 'shopPrices.list'],
      ['a.getUrl', 'a.getURL'],
      ['lookup', 'globals.lookup'],
    ] as const)
      expect(() => placesOf([{ name: one }, { name: other }])).toThrow(`"${one}" and "${other}"`)
  })
})

describe('the WIT package of capabilities', () => {
  const lookup = capability({
    name: 'prices.lookup',
    description: 'Current price of one product',
    input: z.object({ sku: z.string(), currency: z.enum(['EUR', 'USD']).optional() }),
    output: z.object({ price: z.number(), history: z.array(z.tuple([z.string(), z.int()])) }),
    effect: 'read',
    invoke,
  })

  it('has an interface for each namespace, and a world that imports them all', async () => {
    const upper = {
      ...lookup,
      input: z.object({ currency: z.enum(['eur', 'usd']).optional(), sku: z.string() }),
    }
    const wit = witPackage([withSchemas('clock.now', { type: 'null' }, { type: 'integer' }), upper])
    expect(wit).toBe(`package caisson:capabilities;

interface clock {
  record failure {
    code: string,
    message: string,
  }

  /// One of a test
  now: func() -> result<s64, failure>;
}

interface prices {
  record failure {
    code: string,
    message: string,
  }

  enum lookup-input-currency {
    eur,
    usd,
  }

  record lookup-input {
    currency: option<lookup-input-currency>,
    sku: string,
  }

  record lookup-output {
    price: f64,
    history: list<tuple<string, s64>>,
  }

  /// Current price of one product
  lookup: func(input: lookup-input) -> result<lookup-output, failure>;
}

world granted-capabilities {
  import clock;
  import prices;
}
`)
    const { imports } = await shapeOfWit(wit)
    expect(imports.map((one) => `${one.interface}#${one.name}`)).toEqual([
      'caisson:capabilities/clock#now',
      'caisson:capabilities/prices#lookup',
    ])
  })

  it('is read by the parser of others, whatever its names are', async () => {
    const words = 'type record func list string result own use interface world static bool u8 option async'
    const properties = Object.fromEntries(words.split(' ').map((word) => [word, text]))
    const wit = witPackage([
      withSchemas('list.record', object(properties), { enum: ['enum', 'flags', 'variant'] }),
      withSchemas('record', text, { type: 'array', items: object({ from: text }) }),
    ])
    const { imports } = await shapeOfWit(wit)
    expect(imports.map(({ interface: from, name }) => `${from}#${name}`)).toEqual([
      'caisson:capabilities/list#record',
      'caisson:capabilities/globals#record',
    ])
  })

  it('refuses what has no JSON Schema, by its name', () => {
    const bare = capability({ name: 'a.b', description: 'Bare', effect: 'read', invoke })
    expect(() => witPackage([bare])).toThrow('"a.b"')
  })
})

describe('a JSON Schema that WIT has no words for', () => {
  const node = { type: 'object', properties: { next: { $ref: '#/$defs/node' } } }
  it.each<[why: string, schema: JsonSchema, path: string]>([
    ['says nothing', {}, 'input'],
    ['says nothing', object({ a: object({ b: {} }) }), 'input.a.b'],
    ['refers to itself', { $ref: '#/$defs/node', $defs: { node } }, 'input.next'],
    ['is not there', { $ref: '#/$defs/none' }, 'input'],
    [
      'without named properties',
      object({ map: { type: 'object', additionalProperties: text } }),
      'input.map',
    ],
    ['does not name', { ...object({ a: text }), additionalProperties: true }, 'input'],
    ['a union', { anyOf: [text, { type: 'number' }] }, 'input'],
    ['a union', { type: ['string', 'number'] }, 'input'],
    ['an intersection', { allOf: [text] }, 'input'],
    ['enum of more than strings', { enum: ['a', 1] }, 'input'],
    ['a tuple that goes on', { type: 'array', prefixItems: [text], items: text }, 'input'],
    ['cannot write', object({ größe: text }), 'input'],
    ['cannot write', { enum: ['', 'a'] }, 'input'],
    ['a Date', object({ at: { tsType: 'Date' } }), 'input.at'],
    // invariant 3
    ['told apart', { type: 'array', prefixItems: [object({ max_items: text })] }, 'input[0]'],
    ['told apart', { anyOf: [{ enum: ['EUR', 'USD'] }, { type: 'null' }] }, 'input'],
    // invariant 1
    [
      'too deep',
      Array.from({ length: 60 }).reduce<JsonSchema>((items) => ({ type: 'array', items }), text),
      'input[]',
    ],
  ])('is refused: %s', (why, schema, path) => {
    expect(() => witOfInput(schema)).toThrow(why)
    expect(() => witOfInput(schema)).toThrow('"a.f"')
    try {
      witOfInput(schema)
    } catch (error) {
      expect(error).toMatchObject({
        code: 'invalid_argument',
        details: { capability: 'a.f', path: expect.stringContaining(path) },
      })
    }
  })

  it('is refused where two of its names would be one (invariant 2)', () => {
    expect(() => witOfInput(object({ maxItems: text, max_items: text }))).toThrow('"max-items"')
    expect(() => witOfInput({ enum: ['a b', 'a-b'] })).toThrow('"a-b"')
    const inner = object({ b: object({ c: text }), 'b-c': object({ d: text }) })
    expect(() =>
      witPackage([withSchemas('x.a', object({ b: object({ c: object({ d: text }) }), bC: inner }))]),
    ).toThrow('both "a-input-b-c"')
    expect(() => witPackage([withSchemas('x.failure', text)])).toThrow('"failure"')
    expect(() => witPackage([withSchemas('grantedCapabilities.a', text)])).toThrow('"granted-capabilities"')
  })
})
