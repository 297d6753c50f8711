import { toStandardJsonSchema } from '@valibot/to-json-schema'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { capability } from './define-capability.ts'
import { inputJsonSchemaOf, outputJsonSchemaOf } from './json-schema.ts'

const base = {
  name: 'a.b',
  description: 'x',
  effect: 'read' as const,
  invoke: (): never => undefined as never,
}

describe('JSON Schemas of capabilities', () => {
  it('come from zod: defaults are optional going in and present coming out', () => {
    const schema = z.object({ sku: z.string(), days: z.number().default(1) })
    const prices = capability({ ...base, input: schema, output: schema })
    expect(inputJsonSchemaOf(prices)).toMatchObject({ type: 'object', required: ['sku'] })
    expect(outputJsonSchemaOf(prices)).toMatchObject({ required: ['sku', 'days'] })
  })

  it('come from valibot through toStandardJsonSchema', () => {
    const input = toStandardJsonSchema(v.object({ sku: v.string() }))
    expect(inputJsonSchemaOf(capability({ ...base, input }))).toMatchObject({ required: ['sku'] })
  })

  it('come from the explicit schema where the library cannot derive one', () => {
    const inputJsonSchema = { type: 'string', format: 'date-time' }
    expect(inputJsonSchemaOf(capability({ ...base, input: z.date(), inputJsonSchema }))).toEqual(
      inputJsonSchema,
    )
    expect(inputJsonSchemaOf(capability({ ...base, inputJsonSchema }))).toEqual(inputJsonSchema)
  })

  it('are asked for where they are missing, with the reason and the field to add', () => {
    const said = (run: () => unknown): string => {
      try {
        run()
      } catch (error) {
        expect(error).toMatchObject({ code: 'schema_required' })
        return (error as Error).message
      }
      throw new Error('not refused')
    }
    expect(said(() => inputJsonSchemaOf(capability({ ...base })))).toContain('no input schema')
    expect(said(() => inputJsonSchemaOf(capability({ ...base, input: z.date() })))).toContain('Date')
    const transformed = capability({ ...base, output: z.string().transform(Number) })
    expect(said(() => outputJsonSchemaOf(transformed))).toMatch(/Transforms.*outputJsonSchema/)
    expect(said(() => inputJsonSchemaOf(capability({ ...base, input: v.string() })))).toContain(
      'toStandardJsonSchema',
    )
  })
})
