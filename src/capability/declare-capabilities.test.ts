import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { declareCapabilities } from './declare-capabilities.ts'
import { capability } from './define-capability.ts'
import { typeOfSchema } from './type-of-schema.ts'

const invoke = (): never => {
  throw new Error('never called')
}

const lookup = capability({
  name: 'prices.lookup',
  description: 'Current price of one product',
  input: z.object({ sku: z.string().describe('Stock number'), currency: z.enum(['EUR', 'USD']).optional() }),
  output: z.object({ price: z.number(), history: z.array(z.tuple([z.string(), z.number()])) }),
  effect: 'read',
  invoke,
})

/** The complaints of the compiler about a program beside declarations. */
function complaints(declarations: string, program: string): readonly string[] {
  const files = new Map([
    ['guest.d.ts', declarations],
    ['program.ts', `${program}\nexport {}`],
  ])
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    module: ts.ModuleKind.ESNext,
    target: ts.ScriptTarget.ES2023,
    lib: ['lib.es5.d.ts', 'lib.es2015.promise.d.ts', 'lib.es2015.iterable.d.ts', 'lib.es2015.symbol.d.ts'],
    types: [],
  }
  const host = ts.createCompilerHost(options)
  const { getSourceFile, fileExists } = host
  host.fileExists = (file) => files.has(file) || fileExists(file)
  host.getSourceFile = (file, version) => {
    const text = files.get(file)
    return text === undefined ? getSourceFile(file, version) : ts.createSourceFile(file, text, version)
  }
  const compiled = ts.createProgram([...files.keys()], options, host)
  return ts
    .getPreEmitDiagnostics(compiled)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '))
}

describe('capabilities as declarations', () => {
  it('are the globals that a guest sees, with what people wrote about them', () => {
    expect(declareCapabilities([lookup])).toBe(`declare const prices: {
  /** Current price of one product. Reads. */
  readonly lookup: (input: { /** Stock number */ sku: string; currency?: "EUR" | "USD" }) => Promise<{ price: number; history: ([string, number])[] }>
}
`)
  })

  it('hold for the compiler: right calls pass, wrong ones do not', () => {
    const sync = capability({ name: 'clock.zone', effect: 'read', sync: true, description: 'UTC', invoke })
    const deep = capability({ name: 'a.b.c.delete', effect: 'destructive', description: '*/ evil()', invoke })
    const declarations = declareCapabilities([lookup, sync, deep])
    expect(
      complaints(
        declarations,
        `const { price, history } = await prices.lookup({ sku: 'x', currency: 'EUR' })
         const first: number | undefined = history[0]?.[1]
         const zone: unknown = clock.zone()
         await a.b.c.delete(price + (first ?? 0))
         void zone`,
      ),
    ).toEqual([])
    expect(
      complaints(
        declarations,
        `await prices.lookup({ sku: 1 })
         await prices.lookup({ sku: 'x', currency: 'GBP' })
         ;(await prices.lookup({ sku: 'x' })).cost`,
      ),
    ).toHaveLength(3)
  })
})

describe('schemas as types', () => {
  const typeOf = (schema: object): string => typeOfSchema(schema as never, 'T').type

  it.each([
    [{ type: ['string', 'null'] }, 'string | null'],
    [{ type: 'integer' }, 'number'],
    [{ const: 'a' }, '"a"'],
    [{ enum: [1, 'x', null, true] }, '1 | "x" | null | true'],
    [{ type: 'array', items: { enum: ['a', 'b'] } }, '("a" | "b")[]'],
    [{ type: 'object', additionalProperties: { type: 'number' } }, '{ [key: string]: number }'],
    [{ type: 'object', properties: {}, additionalProperties: false }, 'Record<string, never>'],
    [{ anyOf: [{ type: 'string' }, {}] }, 'unknown'],
    [{ allOf: [{ type: 'object', properties: { a: {} } }, {}] }, '{ a?: unknown }'],
    [{ type: 'object', properties: { 'a-b': { type: 'string' } }, required: ['a-b'] }, '{ "a-b": string }'],
    [{ type: 'string', contentEncoding: 'base64', tsType: 'Uint8Array' }, 'Uint8Array'],
    [{ type: 'string', tsType: 'string; evil()' }, 'string'],
    [{ $ref: '#/nowhere' }, 'unknown'],
    [{ $ref: 'https://example.com/schema' }, 'unknown'],
    [{ type: 'unheard-of' }, 'unknown'],
    [{ not: {} }, 'unknown'],
  ])('%j', (schema, type) => {
    expect(typeOf(schema)).toBe(type)
  })

  it('that refer to themselves have names', () => {
    const { type, named } = typeOfSchema(
      {
        $ref: '#/$defs/node',
        $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' } } } },
      },
      'List',
    )
    expect(type).toBe('ListNode')
    expect([...named]).toEqual([['ListNode', '{ next?: ListNode }']])
  })

  it('of any depth and breadth end', () => {
    let deep: object = { type: 'string' }
    for (let i = 0; i < 10_000; i += 1) deep = { type: 'array', items: deep }
    expect(typeOf(deep).length).toBeLessThan(1_000)
    const wide = { anyOf: Array.from({ length: 1e5 }, (_, i) => ({ const: i })) }
    expect(typeOf(wide)).toBe('unknown')
  })

  it('put nothing of theirs outside of a comment or a string', () => {
    const evil = '*/ } declare const stolen: string /*\n\u2028"'
    const { type } = typeOfSchema(
      { type: 'object', properties: { [evil]: { description: evil, const: evil } } },
      'T',
    )
    expect(complaints(`declare const x: ${type}`, 'stolen')).toEqual(["Cannot find name 'stolen'."])
  })
})
