import { afterAll, describe, expect, it } from 'vitest'
import { openRuntime, type Runtime } from '../../src/entry/node.ts'

const runtime: Runtime = await openRuntime()
afterAll(() => runtime.close())

const neighbour = async (domain: string): Promise<unknown> => {
  const outcome = await runtime.run('const x: number = 6\nx * 7', { domain })
  return outcome.status === 'completed' ? outcome.value : outcome
}

/** Sources that keep a parser in the host busy, or bring it down. */
const BOMBS: Readonly<Record<string, string>> = {
  'conditionals and parentheses in each other': 'a?(b,c='.repeat(48),
  'fewer of them': 'a?(b,c='.repeat(20),
  '300 parentheses': `${'('.repeat(300)}1${')'.repeat(300)}`,
  '5,000 parentheses': '('.repeat(5_000),
  'arrows in each other': '(a=>'.repeat(300),
  'generics in each other': `f<${'T<'.repeat(300)}x${'>'.repeat(301)}()`,
  'types in each other': `let x: ${'(a: '.repeat(300)}`,
  'lists of types': `type A = ${'['.repeat(5_000)}`,
  'async generics': 'async <T>('.repeat(100),
  'conditionals in a row': `${'a ? (b) : '.repeat(500)}c`,
  'templates in each other': '`${'.repeat(3_000),
  'blocks in each other': '{'.repeat(30_000),
  'comparisons without end': '<'.repeat(20_000),
  'decorators without end': '@'.repeat(20_000),
  'one word of 300,000 characters': 'x'.repeat(300_000),
  'a comment without end': `/*${'*'.repeat(100_000)}`,
  'a regular expression without end': '/'.repeat(50_001),
  'an enum of thousands': `enum E {${Array.from({ length: 3_000 }, (_, i) => `A${i}`).join()}}`,
  'ends of lines of all kinds': '\r\u2028\u2029\n'.repeat(20_000),
}

describe('reading hostile TypeScript', () => {
  it.each(Object.entries(BOMBS))('%s: ends, and the next program runs', async (_what, source) => {
    const before = process.cpuUsage()
    const outcome = await runtime.run(source, { language: 'ts', domain: 'hostile' })
    expect(['completed', 'failed', 'exhausted']).toContain(outcome.status)
    // In the host it took 95 seconds.
    const { user } = process.cpuUsage(before)
    expect(user).toBeLessThan(20_000_000)
    expect(await neighbour('hostile')).toBe(42)
  })

  it('says that it gave up, and what to do', async () => {
    const outcome = await runtime.run('('.repeat(5_000), { language: 'ts' })
    expect(outcome).toMatchObject({
      status: 'failed',
      error: { name: 'SyntaxError', message: expect.stringMatching(/nested too deep\. Write it simpler/) },
    })
  })

  it('stops at the deadline and the abort of the guest', async () => {
    const long = 'const value: number = 1 as number\n'.repeat(20_000)
    expect(await runtime.run(long, { language: 'ts', limits: { wallMs: 1 } })).toMatchObject({
      status: 'exhausted',
      limit: 'wall',
    })
    const abort = new AbortController()
    const running = runtime.run(long, { language: 'ts', signal: abort.signal })
    abort.abort()
    await expect(running.catch((error: unknown) => error)).resolves.toMatchObject(
      expect.toSatisfy(
        (end: { status?: string; code?: string }) => end.status === 'failed' || end.code === 'aborted',
      ),
    )
  })

  it.each([
    ['NULs', 'let a: string = "\0"; a.length'],
    ['a source that ends in a string', 'let a: string = "'],
    ['a source that ends in a comment', 'let a: string /*'],
    ['a source that ends in a type', 'let a: {'],
    ['nothing', ''],
    ['a byte order mark', '\ufefflet a: number = 1; a'],
    ['names like properties of objects', 'let __proto__: constructor = 1; let hasOwnProperty: toString'],
  ])('%s: an end like any other', async (_what, source) => {
    const outcome = await runtime.run(source, { language: 'ts' })
    expect(['completed', 'failed']).toContain(outcome.status)
  })

  it('a lone surrogate is refused before anything reads it', async () => {
    await expect(runtime.run('let a: string = "\ud800"', { language: 'ts' })).rejects.toMatchObject({
      code: 'invalid_argument',
    })
  })

  it('a guest never sees the transpiler', async () => {
    const names = 'Object.getOwnPropertyNames(globalThis).sort().join()'
    const inTypeScript = await runtime.run(`const names: string = ${names}; names`, { language: 'ts' })
    const inJavaScript = await runtime.run(names, { language: 'js' })
    expect(inTypeScript).toMatchObject({
      status: 'completed',
      value: expect.not.stringContaining('transpil'),
    })
    expect(inJavaScript).toMatchObject({ value: (inTypeScript as { value?: unknown }).value })
  })
})
