/**
 * Mistakes and hostility on the embedder's side: options of the wrong kind, thousands of tenants, programs that
 * no source text can be. Refused by name, and never ignored: an ignored option is a missing limit.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CaissonError } from '../../src/base/errors.ts'
import { openRuntime, type Runtime } from '../../src/entry/node.ts'

let runtime: Runtime
beforeAll(async () => {
  runtime = await openRuntime({})
})
afterAll(() => runtime.close())

const refusal = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'nothing',
    (error: unknown) => (CaissonError.is(error) ? error.code : error),
  )

describe('options of a guest', () => {
  it.each([
    ['grants', 'tools.echo'],
    ['grants', 5],
    ['grants', [null]],
    ['limits', null],
    ['limits', 5],
    ['signal', {}],
    ['form', 'javascript'],
    ['fileName', 5],
    ['fileName', Symbol('s')],
    ['fileName', 'a\0b'],
    ['fileName', 'a\n    at b (c:1:1)'],
    ['fileName', 'f'.repeat(1_001)],
    ['seed', -1],
    ['seed', 1.5],
    ['seed', new Uint8Array(31)],
    ['domain', Symbol('s')],
    ['stateDigest', 'yes'],
    ['thread', 'Worker'],
    ['timeout', 500],
    ['__proto__', { grants: [] }],
  ])('%s of %s is refused', async (option, value) => {
    const options = Object.defineProperty({}, option, { value, enumerable: true })
    expect(await refusal(runtime.run('1', options))).toBe('invalid_argument')
    expect(await refusal(runtime.start('1', options))).toBe('invalid_argument')
  })

  it('that are undefined are left out', async () => {
    const options = { grants: undefined, limits: undefined, thread: undefined, signal: undefined }
    expect(await runtime.run('1', options as object)).toMatchObject({ status: 'completed', value: 1 })
  })
})

describe('options of a runtime', () => {
  it.each([
    ['concurrency', 0],
    ['concurrency', Number.NaN],
    ['concurrency', Number.POSITIVE_INFINITY],
    ['keepInstances', -1],
    ['maxMemoryBytes', Number.NaN],
    ['maxMemoryBytes', 2 ** 33],
    ['capabilities', {}],
    ['callLog', 'log'],
    ['maxMemory', 5],
  ])('%s of %s is refused', async (option, value) => {
    expect(await refusal(openRuntime({ [option]: value }))).toBe('invalid_argument')
  })
})

describe('programs', () => {
  it('that hold lone surrogates are refused, and pairs and NUL arrive as they are', async () => {
    for (const lone of ['\ud800', '\udc00', '\udc00\ud800', 'x\ud83d']) {
      expect(await refusal(runtime.run(`return "${lone}"`))).toBe('invalid_argument')
    }
    expect(await runtime.run('return "\u{1f600}".length')).toMatchObject({ value: 2 })
    expect(await runtime.run('return "a\0b".charCodeAt(1)')).toMatchObject({ value: 0 })
    expect(await runtime.run('\0')).toMatchObject({ status: 'failed', error: { name: 'SyntaxError' } })
  })

  it('of megabytes, deep or endless, end as any other', async () => {
    const ends: unknown[] = []
    for (const source of [
      `/*${'x'.repeat(4e6)}*/ return 1`,
      `return ${'('.repeat(1e5)}1${')'.repeat(1e5)}`,
      `return ${'['.repeat(3e4)}${']'.repeat(3e4)}`,
      'function a(){'.repeat(5e3) + '}'.repeat(5e3),
      '}); while (0); (async () => { return 5',
      'return 1 }; globalThis.x = 1; async function q() {',
    ]) {
      const outcome = await runtime.run(source, { limits: { fuel: 3_000_000_000 } })
      ends.push(outcome.status === 'exhausted' ? outcome.limit : outcome.status)
    }
    expect(ends.slice(0, 4)).toEqual(['completed', 'stack', 'stack', 'stack'])
    expect(ends[5]).toBe('failed')
    const huge = await runtime.run(`/*${'x'.repeat(2e7)}*/ return 1`)
    expect(huge).toMatchObject({ status: 'exhausted', limit: 'bytes' })
  })
})

describe('thousands of tenants', () => {
  it('do not keep an instance or a thread each', async () => {
    const own = await openRuntime({})
    for (let i = 0; i < 100; i += 1) await own.run('1', { domain: `warm ${i}` })
    globalThis.gc?.()
    const before = process.memoryUsage().rss
    for (let i = 0; i < 500; i += 1) {
      expect(await own.run('1', { domain: `tenant ${i}` })).toMatchObject({ status: 'completed' })
    }
    // One idle instance each were 430 MB.
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1024 * 1024)
    await own.close()
  })
})
