import { describe, expect, expectTypeOf, it } from 'vitest'
import { either, list, object, record } from './composites.ts'
import { binary, integer, nothing, oneOf, text } from './scalars.ts'
import type { Infer, Schema } from './schema.ts'

const person = object(
  { name: text({ minLength: 1, maxLength: 10, description: 'Full name' }) },
  { age: integer({ minimum: 0, maximum: 150 }), tags: list(text({ maxLength: 5 }), { maxItems: 3 }) },
)

const issuesOf = (schema: Schema<unknown>, value: unknown) => {
  const result = schema['~standard'].validate(value)
  if (result instanceof Promise) throw new Error('a binding schema must be synchronous')
  return result.issues
}

describe('schemas of bindings', () => {
  it('1: stop at the first issue and name its path, however much is wrong', () => {
    const many = list(text({ maxLength: 1 }), { maxItems: 1_000_000 })
    expect(issuesOf(many, Array(100_000).fill(7))).toEqual([
      { message: 'expected a string, got number', path: [0] },
    ])
    expect(issuesOf(person, { name: 'A', tags: ['a', 'toolong'] })?.[0]?.path).toEqual(['tags', 1])
  })

  it('2: copy own, known keys only', () => {
    const planted = Object.create({ name: 'inherited' })
    expect(issuesOf(person, planted)?.[0]?.message).toContain('"name" is missing')
    expect(issuesOf(person, JSON.parse('{"name":"A","__proto__":{}}'))?.[0]?.message).toContain('__proto__')
    const headers = record(text({ maxLength: 9 }), { maxProperties: 9 }).check(
      JSON.parse('{"__proto__":"x"}'),
    )
    expect(Object.keys(headers)).toEqual(['__proto__'])
    expect(Object.getPrototypeOf(headers)).toBe(null)
  })

  it('3: coerce nothing, and take undefined for absent', () => {
    expect(person.check({ name: 'A', age: undefined })).toEqual({ name: 'A' })
    expect(object({}).check(undefined)).toEqual({})
    expect(issuesOf(person, undefined)?.[0]?.message).toContain('expected an object')
    expect(issuesOf(person, { name: 'A', age: '7' })?.[0]?.message).toContain('whole number')
    expect(issuesOf(person, { name: '' })?.[0]?.message).toContain('at least 1')
    expect(issuesOf(person, [])?.[0]?.message).toContain('an array')
    expect(issuesOf(binary({ maxBytes: 2 }), new Uint8Array(3))?.[0]?.message).toContain('at most 2 bytes')
    expect(issuesOf(either(nothing, oneOf(['a'])), 'b')?.[0]?.message).toContain('or expected one of a')
  })

  it('give the JSON Schema that says the same, and refuse targets they were not written for', () => {
    const json = person['~standard'].jsonSchema.input({ target: 'draft-2020-12' })
    expect(json).toMatchObject({
      type: 'object',
      required: ['name'],
      additionalProperties: false,
      properties: { name: { type: 'string', description: 'Full name' }, tags: { items: { type: 'string' } } },
    })
    expect(() => person['~standard'].jsonSchema.output({ target: 'openapi-3.0' })).toThrow('draft')
  })

  it('infer required and optional properties', () => {
    const typed: Infer<typeof person> = person.check({ name: 'A', age: 1 })
    expect(typed).toEqual({ name: 'A', age: 1 })
    expectTypeOf(typed).toEqualTypeOf<{
      readonly name: string
      readonly age?: number
      readonly tags?: readonly string[]
    }>()
  })
})
