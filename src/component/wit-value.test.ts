import { describe, expect, it } from 'vitest'
import {
  flagsType,
  functionType,
  listType,
  primitiveType,
  recordType,
  variantType,
  type WitType,
} from './abi/wit-type.ts'
import { failureWriter } from './wit-failure.ts'
import { argumentsOf, inputOf, plainOf, witOf } from './wit-value.ts'

const text = primitiveType('string')
const option = (type: WitType): WitType =>
  variantType('option', [
    { name: 'none', type: undefined },
    { name: 'some', type },
  ])
const record = (fields: Readonly<Record<string, WitType>>): WitType =>
  recordType(
    'record',
    Object.entries(fields).map(([name, type]) => ({ name, type })),
  ) as WitType

const order = record({
  sku: text,
  'max-items': primitiveType('s64'),
  'sort-by': option(variantType('enum', [{ name: 'best-first', type: undefined }])),
  may: flagsType(['read-it', 'write-it']),
  tags: listType(text),
})
const schema = {
  type: 'object',
  properties: {
    sku: {},
    max_items: {},
    sortBy: { enum: ['best_first'] },
    may: { type: 'object', properties: { read_it: {}, writeIt: {} } },
    tags: {},
  },
  required: ['sku', 'max_items'],
}
const inWit = {
  sku: 'a',
  maxItems: 5n,
  sortBy: 'best-first',
  may: { readIt: true, writeIt: false },
  tags: ['x'],
}
const plain = {
  sku: 'a',
  max_items: 5,
  sortBy: 'best_first',
  may: { read_it: true, writeIt: false },
  tags: ['x'],
}

describe('values between WIT and capabilities', () => {
  it('have the names of the schema on one side, and those of WIT on the other', () => {
    expect(plainOf(order, inWit, schema)).toEqual(plain)
    expect(witOf(order, plain, schema)).toEqual({ ...inWit, maxItems: 5 })
  })

  it('leave absent options out, or say null where the schema asks for them', () => {
    const type = record({ a: option(text), b: option(text) })
    const given = { a: undefined, b: undefined }
    expect(plainOf(type, given, { required: ['b'] })).toEqual({ b: null })
    expect(witOf(type, { b: null })).toEqual(given)
  })

  it('are the input itself as "input", and its properties else', () => {
    const params = [{ name: 'first-name', type: text }]
    expect(inputOf([{ name: 'input', type: text }], ['a'], undefined)).toBe('a')
    expect(inputOf(params, ['a'], undefined)).toEqual({ firstName: 'a' })
    expect(inputOf([], [], { type: 'object' })).toEqual({})
    expect(inputOf([], [], undefined)).toBeUndefined()
    expect(argumentsOf(params, { firstName: 'b' }, undefined)).toEqual(['b'])
  })

  it('keep numbers that are not safe as they are', () => {
    expect(plainOf(primitiveType('u64'), 2n ** 60n)).toBe(2n ** 60n)
  })
})

describe('failures', () => {
  const failure = { code: 'not_granted', message: 'no' }
  const write = (error: WitType | undefined): unknown =>
    failureWriter(
      functionType(
        [],
        variantType('result', [
          { name: 'ok', type: undefined },
          { name: 'err', type: error },
        ]),
      ),
    )?.(failure)

  it('are said in whatever the type has room for', () => {
    expect(write(undefined)).toEqual({ tag: 'err' })
    expect(write(text)).toEqual({ tag: 'err', val: 'not_granted: no' })
    expect(write(record({ code: text, message: text }))).toEqual({ tag: 'err', val: failure })
    const cases = variantType('variant', [
      { name: 'not-granted', type: text },
      { name: 'other', type: text },
    ])
    expect(write(cases)).toEqual({ tag: 'err', val: { tag: 'not-granted', val: 'no' } })
    const other = variantType('enum', [
      { name: 'denied', type: undefined },
      { name: 'other', type: undefined },
    ])
    expect(write(other)).toEqual({ tag: 'err', val: 'other' })
  })

  it('have no place in types without room', () => {
    expect(write(primitiveType('u32'))).toBeUndefined()
    expect(failureWriter(functionType([], text))).toBeUndefined()
  })
})
