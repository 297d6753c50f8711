import { describe, expect, it } from 'vitest'
import { createMemoryRunStore } from '../../host-bindings/store/memory-run-store.ts'
import { capability, openRuntime, type Runtime } from '../../src/entry/node.ts'

const echo = capability({
  name: 'test.echo',
  description: 'Gives back what it gets.',
  effect: 'read',
  invoke: (value) => value,
})
const store = createMemoryRunStore()
const runtime: Runtime = await openRuntime({ capabilities: [echo], store })

async function resultOf(source: string, options = {}): Promise<unknown> {
  const outcome = await runtime.run(source, options)
  return outcome.status === 'completed' ? outcome.value : outcome
}

async function errorOf(source: string, options = {}): Promise<unknown> {
  const outcome = await runtime.run(source, options)
  return outcome.status === 'failed' ? outcome.error : outcome
}

describe('programs in TypeScript', () => {
  it.each([
    ['const x: number = 41\nx + 1', 42],
    ['interface P { x: number }\nconst p: P = { x: 3 } satisfies P\np.x', 3],
    ['enum Color { Red, Green = "g" }\n[Color[0], Color.Green]', ['Red', 'g']],
    [
      'class A<T> { constructor(private readonly x: T) {} get(): T { return this.x } }\nnew A<number>(5).get()',
      5,
    ],
    ['return (input as number) * 2', 8],
    ['async (n: number): Promise<number> => n + 1', 5],
    ['export default <T,>(x: T): T => x', 4],
    ['import type { X } from "nowhere"\nconst x: X = 1\nx', 1],
    ['const f = (x: (string | number) | null): x is string => !!x\nf("a")', true],
    ['const later = await Promise.resolve<number>(7)\nlater', 7],
  ])('%s', async (source, value) => {
    expect(await resultOf(source, { input: 4 })).toEqual(value)
  })

  it('are told by the name of their file, or by who runs them', async () => {
    expect(await resultOf('1 + 1', { fileName: 'a.ts' })).toBe(2)
    expect(await errorOf('let x: y', { fileName: 'a.js' })).toMatchObject({ name: 'SyntaxError' })
    expect(await errorOf('let x: y', { language: 'js' })).toMatchObject({ name: 'SyntaxError' })
    expect(await resultOf('let x: y = 1; x', { language: 'ts', fileName: 'a.js' })).toBe(1)
    await expect(runtime.run('1', { language: 'coffee' as 'ts' })).rejects.toMatchObject({
      code: 'invalid_argument',
    })
  })

  it('are JavaScript where the parser of the engine takes them', async () => {
    // As TypeScript these would be calls with type arguments.
    expect(
      await resultOf('const a = 1, b = 2, c = (x) => x, f = (...all) => all\nf(a < b, c > (0))'),
    ).toEqual([true, false])
  })

  it('run in Workers too', async () => {
    expect(await resultOf('enum A { X = 6 }\nA.X as number', { thread: 'worker' })).toBe(6)
  })

  it('invariant 3: are equal programs when they were read before', async () => {
    const source = 'enum A { X = 1 }\nconst a: A = A.X\na'
    const outcomes = [
      await runtime.run(source, { seed: 1, stateDigest: true, domain: 'twice' }),
      await runtime.run(source, { seed: 1, stateDigest: true, domain: 'twice' }),
      await runtime.run(source, { seed: 1, stateDigest: true, domain: 'other' }),
    ]
    const [first, ...others] = outcomes.map(({ stateDigest, usage }) => [stateDigest, usage.fuel])
    expect(others).toEqual([first, first])
  })
})

describe('errors of programs in TypeScript', () => {
  it.each([
    ['let a: number = 1\nlet b: number = )', 'SyntaxError', 2, 17],
    ['enum A { X }; let b = 1; let b', 'SyntaxError', 1, 31],
    ['namespace A { export let b }', 'SyntaxError', 1, 1],
    ['let a: number = 1\n  null!.b', 'TypeError', 2, 8],
    ['enum A { X = 1, Y = 2 } let a: A = A.X; null.b', 'TypeError', 1, 45],
    ['class A { constructor(public x: number, y: string) { null.b } }\nnew A(1, "")', 'TypeError', 1, 58],
    ['enum A {\n  X = 1,\n  Y = null.b,\n}', 'TypeError', 3, 11],
    ['type A = {\n  a: string\n}\nthrow new Error("x") as any', 'Error', 4, 16],
    ['return <any>missing', 'ReferenceError', 1, 13],
  ])('%j: at its place', async (source, name, line, column) => {
    expect(await errorOf(source, { fileName: 'p.ts' })).toMatchObject({
      name,
      position: { file: 'p.ts', line, column },
      stack: expect.stringContaining(`p.ts:${line}:${column}`),
    })
  })

  it('name the program .ts where nobody named it', async () => {
    expect(await errorOf('const a: number = 1; null.x')).toMatchObject({ position: { file: 'program.ts' } })
  })

  it('keep their places in a guest that went through a checkpoint', async () => {
    const guest = await runtime.start('enum A { X = 1, Y }\nawait test.echo(A.Y); enum B { Z } null.x', {
      grants: ['test.echo'],
      fileName: 'p.ts',
    })
    const restored = await runtime.restore(await guest.checkpoint(), { grants: ['test.echo'] })
    const outcome = await restored.finish()
    expect(outcome).toMatchObject({ status: 'failed', error: { position: { line: 2, column: 40 } } })
  })
})

describe('modules in TypeScript', () => {
  const shapes =
    'export enum Shape { Square = 4 }\nexport type Side = number\nexport const fail = (x: Side) => { enum Y { Z } null.x }'

  it('are told by their names, or as programs are', async () => {
    const source =
      "import { Shape, type Side } from './shapes.ts'\nimport area from 'area'\nconst s: Side = 3\nexport default area(s) + Shape.Square"
    const modules = { './shapes.ts': shapes, area: 'export default (side: number): number => side * side' }
    expect(await resultOf(source, { modules })).toBe(13)
  })

  it('are read when they are imported while the program runs', async () => {
    const source = "const name: string = './shapes.ts'\n;(await import(name)).Shape[4]"
    expect(await resultOf(source, { modules: { './shapes.ts': shapes } })).toBe('Square')
  })

  it('throw at their places, also after a checkpoint', async () => {
    const place = { file: 'shapes.ts', line: 3, column: 53 }
    const source = "import { fail } from './shapes.ts'\nawait test.echo(1)\nfail(1)"
    const options = { modules: { './shapes.ts': shapes }, grants: ['test.echo'] }
    expect(await errorOf(source, options)).toMatchObject({ position: place })
    const guest = await runtime.start(source, options)
    const restored = await runtime.restore(await guest.checkpoint(), options)
    expect(await restored.finish()).toMatchObject({ status: 'failed', error: { position: place } })
  })

  it('that are refused end the program with their place', async () => {
    const modules = { './a.ts': 'let x: number\nnamespace A { export let y }' }
    expect(await errorOf("import './a.ts'", { modules })).toMatchObject({
      name: 'SyntaxError',
      message: expect.stringContaining('"namespace A" holds values'),
      position: { file: 'a.ts', line: 2, column: 1 },
    })
  })
})

describe('kept runs of programs in TypeScript', () => {
  it('say what was written, and are taken again without reading it', async () => {
    const source = 'enum A { X = 20 }\nconst a: number = await test.echo(A.X)\na + 1'
    const outcome = await runtime.run(source, { run: 'kept-ts', grants: ['test.echo'], stateDigest: true })
    expect(outcome).toMatchObject({ status: 'completed', value: 21 })
    const again = await runtime.repeat('kept-ts', { grants: ['test.echo'], stateDigest: true })
    expect(again).toMatchObject({ status: 'completed', value: 21, stateDigest: outcome.stateDigest })
  })

  it('that cannot begin have an end, as any other', async () => {
    const outcome = await runtime.run('namespace A { let x }', { run: 'refused-ts' })
    expect(outcome).toMatchObject({ status: 'failed', error: { name: 'SyntaxError' } })
    expect(await runtime.repeat('refused-ts')).toMatchObject({
      status: 'failed',
      error: { name: 'SyntaxError' },
    })
  })
})
