/** docs/components.md says which WIT comes of which JSON Schema: this says the same of the code. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { JsonSchema } from '../../src/capability/json-schema.ts'
import { shapeOfWit, withSchemas } from '../../src/component/wit.testkit.ts'
import { witPackage } from '../../src/component/wit-package.ts'
import { ROOT } from './documented-pages.ts'

const text = { type: 'string' }
const flag = { type: 'boolean' }
const tagged = (tag: string, val?: JsonSchema): JsonSchema => ({
  type: 'object',
  properties: { tag: { const: tag }, ...(val && { val }) },
  required: ['tag', ...(val ? ['val'] : [])],
})

/** By the first cell of the table: a schema of that kind, and the kind of WIT in the second cell. */
const ROWS: Readonly<Record<string, readonly [schema: JsonSchema, kind: string]>> = {
  '`boolean`': [flag, 'bool'],
  '`string`': [text, 'string'],
  '`number`': [{ type: 'number' }, 'f64'],
  '`integer`': [{ type: 'integer' }, 's64'],
  '`enum` or `const` of strings': [{ enum: ['a', 'b'] }, 'enum'],
  '`array` with `items`': [{ type: 'array', items: text }, 'list'],
  '`array` with `prefixItems`, no others': [
    { type: 'array', prefixItems: [text, flag], items: false },
    'tuple',
  ],
  '`object` with `properties`': [{ type: 'object', properties: { a: text } }, 'record'],
  '`object` of two to 32 booleans, all required': [
    { type: 'object', properties: { a: flag, b: flag }, required: ['a', 'b'] },
    'flags',
  ],
  'a property that is not required, a type or `null`': [{ anyOf: [text, { type: 'null' }] }, 'option'],
  '`anyOf` or `oneOf` of `{ tag, val }` with a constant `tag` each': [
    { oneOf: [tagged('none'), tagged('some', text)] },
    'variant',
  ],
  'the same with the tags `ok` and `err`': [{ anyOf: [tagged('ok', text), tagged('err')] }, 'result'],
  '`null`, or an object without properties, as a whole': [{ type: 'object', properties: {} }, 'no value'],
  "`tsType: 'Uint8Array'`": [{ tsType: 'Uint8Array' }, 'list'],
}

describe('the table of types of WIT', () => {
  const page = readFileSync(join(ROOT, 'docs/components.md'), 'utf8')
  const table = page.slice(page.indexOf('| JSON Schema | WIT |')).split('\n\n')[0] ?? ''
  const rows = table
    .split('\n')
    .slice(2)
    .map((line) => line.split(' | ').map((cell) => cell.replace(/^\| | \|$/g, '')))

  it('has a row for each kind, and no other', () => {
    expect(rows.map(([schema]) => schema)).toEqual(Object.keys(ROWS))
  })

  it.each(Object.entries(ROWS))('is true of %s', async (row, [schema, kind]) => {
    expect(rows.find(([first]) => first === row)?.[1]).toContain(kind)
    const { imports } = await shapeOfWit(witPackage([withSchemas('a.f', schema)]))
    expect(imports[0]?.type.params[0]?.type.kind ?? 'no value').toBe(kind)
  })

  it.each([
    ['u8', 0, 255],
    ['u16', 0, 256],
    ['u32', 1, 65_536],
    ['s8', -1, 1],
    ['s16', -1, 128],
    ['s32', -1, 40_000],
    ['s64', -1, 2 ** 31],
    ['s64', 0, Number.MAX_SAFE_INTEGER],
  ])('%s has room for %d to %d', async (kind, minimum, maximum) => {
    const wit = witPackage([withSchemas('a.f', { type: 'integer', minimum, maximum })])
    const { imports } = await shapeOfWit(wit)
    expect(imports[0]?.type.params[0]?.type.kind).toBe(kind)
  })
})
