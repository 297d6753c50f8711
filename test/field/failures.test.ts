/** What an author is told of a program that fails: where it was, in their own source, and what is missing. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  capability,
  type Outcome,
  openRuntime,
  type ProgramForm,
  type Runtime,
} from '../../src/entry/node.ts'

const fails = (): never => {
  throw new Error('connect 10.0.0.7 as admin:hunter2')
}
const tools = [
  capability({ name: 'tools.fail', description: 'Fails', effect: 'read', invoke: async () => fails() }),
  capability({ name: 'tools.failNow', description: 'Fails', effect: 'read', sync: true, invoke: fails }),
  capability({ name: 'tools.ok', description: 'Answers', effect: 'read', invoke: async () => 1 }),
  capability({ name: 'tools.withheld', description: 'Is not granted', effect: 'read', invoke: () => 1 }),
  capability({ name: 'vault.open', description: 'Is not granted', effect: 'read', invoke: () => 1 }),
]
const grants = ['tools.fail', 'tools.failNow', 'tools.ok']

let runtime: Runtime
beforeAll(async () => {
  runtime = await openRuntime({ capabilities: tools })
})
afterAll(() => runtime.close())

type Failed = Extract<Outcome, { status: 'failed' }>

async function failureOf(source: string, form: ProgramForm = 'auto'): Promise<Failed> {
  const outcome = await runtime.run(source, { grants, form })
  if (outcome.status !== 'failed') throw new Error(`It ended as ${outcome.status}.`)
  return outcome
}
const whereOf = async (source: string, form?: ProgramForm): Promise<string> => {
  const { error } = await failureOf(source, form)
  return `${error.position?.line}:${error.position?.column} ${error.message}`
}

describe('a program that ends too early', () => {
  it.each<[string, string, ProgramForm]>([
    ['foo(', '1:5', 'script'],
    ['foo(', '1:5', 'body'],
    ['foo(', '1:5', 'module'],
    ['foo(', '1:5', 'auto'],
    ['async () => {\n  const a = {\n    b: 1,\n', '3:10', 'auto'],
    ['async (input) => {\n  return tools.ok(input', '2:24', 'auto'],
    ['export default async () => {', '1:29', 'auto'],
    ['return [1,\n2, // and so on\n\n', '2:16', 'auto'],
    ['return (1', '1:10', 'auto'],
    ['return {', '1:9', 'auto'],
    ['return `${"é😀"', '1:15', 'auto'],
    ['if (input) {\n  return 1', '2:11', 'auto'],
    ['try { x }', '1:10', 'script'],
    ['import a from', '1:14', 'auto'],
  ])('%j is told so, and where its end is (%s, %s)', async (source, place, form) => {
    expect(await whereOf(source, form)).toBe(`${place} unexpected end of the program`)
    expect((await failureOf(source, form)).error.stack).toBe(`    at program.js:${place}`)
  })

  it('within a text or a comment is told where that began', async () => {
    for (const form of ['script', 'body', 'module'] as const) {
      expect(await whereOf('1;\nconst a = `b', form)).toBe('2:11 unexpected end of string')
      expect(await whereOf('1;\n/* b', form)).toBe('2:1 unexpected end of comment')
    }
  })

  it('and another mistake is told of the mistake, within its source', async () => {
    expect(await whereOf('return 1; let a; let a')).toBe('1:23 invalid redefinition of lexical identifier')
    expect(await whereOf('return ++1')).toBe('1:11 invalid increment/decrement operand')
  })
})

describe('a body with a bracket too many', () => {
  it.each([
    ['return 1\n}', '2:1'],
    ['return 1\n});', '2:1'],
    ['if (input) { return 1 }}\nreturn 5', '1:24'],
    ['}', '1:1'],
    ['return 1 } (foo)', '1:10'],
  ])('%j is told of its own bracket (%s)', async (source, place) => {
    expect(await whereOf(source, 'body')).toBe(`${place} unexpected token in expression: '}'`)
  })
})

describe('a failed call that nobody caught', () => {
  it.each([
    ['const a = 1\n  await tools.fail(a)', '2:19', 'a script'],
    ['const a = 1\nreturn await tools.fail(a)', '2:24', 'a body'],
    ['return await tools.fail()', '1:24', 'the first line of a body'],
    ['async () => {\n  const a = await tools.fail()\n  return a\n}', '2:29', 'a function'],
    ['export default await tools.fail()', '1:32', 'a module'],
    ['const f = async () => {\n  await tools.fail()\n}\nawait f()', '2:19', 'a function in a script'],
    ['await tools.ok()\nawait Promise.all([tools.ok(), tools.fail()])', '2:18', 'Promise.all'],
    ['const f = () =>\n  tools.failNow()\nf()', '2:16', 'a sync call'],
  ])('%j says where it was thrown (%s, %s)', async (source, place) => {
    const { error } = await failureOf(source)
    const { line, column } = error.position ?? {}
    expect(`${line}:${column}`).toBe(place)
    expect(error.code).toBe('capability_failed')
    expect(JSON.stringify(error)).not.toMatch(/hunter2|10\.0\.0\.7|\.ts|setup/)
  })

  it('has frames of the guest alone, and the same fuel in every thread', async () => {
    const source = 'async function outer() {\n  await tools.fail()\n}\nawait outer()'
    const ended: Outcome[] = []
    for (const thread of ['host', 'host', 'worker'] as const) {
      ended.push(await runtime.run(source, { grants, thread, seed: 1, stateDigest: true }))
    }
    const [first, ...others] = ended.map(({ usage, stateDigest, ...rest }) => ({
      fuel: usage.fuel,
      stateDigest,
      error: (rest as Failed).error,
    }))
    expect(first?.error.stack).toBe('    at outer (program.js:2:19)')
    for (const other of others) expect(other).toEqual(first)
  })

  it('is text to the guest before it is thrown, too', async () => {
    const source = 'return await tools.fail().catch((e) => [typeof e.stack, Object.keys(e).join()])'
    expect(await runtime.run(source, { grants })).toMatchObject({ value: ['string', 'code'] })
  })
})

describe('a line for the shell', () => {
  it.each([
    ['1 + 1', 'script'],
    ['return 2', 'auto'],
    ['return 2', 'body'],
    ['async () => 2', 'auto'],
    ['export default 2', 'module'],
  ] as const)('stands before %j (%s)', async (source, form) => {
    expect(await runtime.run(`#!/usr/bin/env caisson\n${source}`, { form })).toMatchObject({ value: 2 })
  })

  it('moves no position', async () => {
    for (const form of ['script', 'body', 'module'] as const) {
      expect(await whereOf('#!/usr/bin/env caisson\n  null.x', form)).toMatch(/^2:7 /)
    }
  })
})

describe('a capability that was not granted', () => {
  it.each([
    ['return await vault.open()', 'vault.open'],
    ['const v = vault', 'vault.open'],
    ['async () => {\n  await tools.ok()\n  return await tools\n    .withheld({ a: 1 })\n}', 'tools.withheld'],
  ])('%j is named to the host', async (source, name) => {
    const { hint, error } = await failureOf(source)
    expect(hint).toBe(`${name} exists and this guest has no grant for it: add '${name}' to grants.`)
    expect(JSON.stringify(error)).not.toContain('grant')
  })

  it('is named to nobody where the program failed for another reason', async () => {
    expect((await failureOf('return null.x')).hint).toBeUndefined()
    expect((await failureOf('return nothing.open()')).hint).toBeUndefined()
    expect((await failureOf('await tools.fail()')).hint).toBeUndefined()
  })

  it('is nothing to the guest', async () => {
    const source = `
      const said = []
      try { vault.open() } catch (e) { said.push(String(e)) }
      try { tools.withheld() } catch (e) { said.push(String(e)) }
      return [...said, typeof vault, Object.keys(tools).join(), 'withheld' in tools]`
    expect(await runtime.run(source, { grants })).toMatchObject({
      value: [
        "ReferenceError: 'vault' is not defined",
        'TypeError: not a function',
        'undefined',
        'fail,failNow,ok',
        false,
      ],
    })
  })

  it('is named in step-by-step runs, too', async () => {
    const guest = await runtime.start('await tools.ok(); vault.open()', { grants })
    await guest.invoke(1)
    expect(guest.outcome).toMatchObject({
      status: 'failed',
      hint: expect.stringMatching(/^vault\.open exists/),
    })
    guest.dispose()
  })
})
