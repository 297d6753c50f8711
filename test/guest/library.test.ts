/** What the host computes for guests: clones, digests, random bytes, time; and the console beyond its levels. */
import { createHash } from 'node:crypto'
import { afterAll, describe, expect, it } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { openRuntime } from '../../src/entry/node.ts'
import { movedOrNot } from './moved-or-not.testkit.ts'

const runtime = await openRuntime()
afterAll(() => runtime.close())

async function evaluate(source: string, input?: unknown): Promise<unknown> {
  const outcome = await runtime.run(source, { input })
  if (outcome.status !== 'completed') throw new Error(JSON.stringify(outcome))
  return outcome.value
}

async function linesOf(source: string): Promise<readonly string[]> {
  const { logs } = await runtime.run(source)
  return logs.map(({ level, text }) => `${level}: ${text}`)
}

describe('structuredClone', () => {
  it('copies every kind of value, with sharing and cycles', async () => {
    const source = `
      const shared = { n: 1n, date: new Date(5), re: /a/gi, nan: NaN, zero: -0, text: '\\ud800' }
      const value = { shared, again: shared, map: new Map([[shared, new Set([1])]]), holes: [1, , 3], error: new RangeError('r', { cause: shared }), bytes: new Uint16Array([1, 2]), boxed: Object(1) }
      value.self = value
      class Point { constructor() { this.x = 1 } get y() { return 2 } }
      const copy = structuredClone(value), point = structuredClone(new Point())
      return [
        copy !== value, copy.self === copy, copy.shared === copy.again, copy.map.has(copy.shared), 1 in copy.holes, copy.holes.length,
        copy.error instanceof RangeError, copy.error.cause === copy.shared, copy.bytes instanceof Uint16Array, copy.boxed instanceof Number,
        Object.is(copy.shared.zero, -0), copy.shared.text === '\\ud800', copy.shared.date.getTime(), String(copy.shared.re),
        Object.getPrototypeOf(point) === Object.prototype, Object.keys(point),
      ]`
    expect(await evaluate(source)).toEqual([
      true,
      true,
      true,
      true,
      false,
      3,
      true,
      true,
      true,
      true,
      true,
      true,
      5,
      '/a/gi',
      true,
      ['x'],
    ])
  })

  it('names what cannot be cloned, and runs no getter', async () => {
    const source = `
      let ran = false
      return [{ a: [() => 1] }, { get x() { ran = true } }, new Map([[1, Symbol()]]), new Proxy({}, {}), new WeakMap()].map((value) => {
        try { structuredClone(value) } catch (error) { return [error.name, error.code, error.message, ran] }
      })`
    const answers = (await evaluate(source)) as readonly (readonly unknown[])[]
    expect(answers.map(([name, code, , ran]) => [name, code, ran])).toEqual(
      answers.map(() => ['DataCloneError', 25, false]),
    )
    expect(answers.map(([, , message]) => message)).toEqual([
      'value.a[0] is a function, which cannot be cloned.',
      'value.x is an accessor property, which cannot be cloned.',
      expect.stringContaining('a symbol'),
      expect.stringContaining('Proxy'),
      expect.stringContaining('WeakMap'),
    ])
  })

  it('gives buffers away, and only once each', async () => {
    const source = `
      const buffer = new ArrayBuffer(8), view = new Uint8Array(buffer)
      view[3] = 7
      const copy = structuredClone({ view }, { transfer: [buffer] })
      const refused = [[buffer], [{}], (() => { const b = new ArrayBuffer(1); return [b, b] })()].map((transfer) => {
        try { structuredClone(1, { transfer }) } catch (error) { return error.name }
      })
      return [copy.view[3], buffer.byteLength, view.length, refused]`
    const refused = 'DataCloneError'
    expect(await evaluate(source)).toEqual([7, 0, 0, [refused, refused, refused]])
  })

  it('clones a DOMException as one', async () => {
    const source = `const { name, message, code } = structuredClone(new DOMException('m', 'AbortError')); return [name, message, code]`
    expect(await evaluate(source)).toEqual(['AbortError', 'm', 20])
  })

  it('costs fuel by the size of the value', async () => {
    const fuel = async (source: string): Promise<number> => (await runtime.run(source)).usage.fuel
    const small = await fuel('const a = new Uint8Array(1_000_000); structuredClone(1)')
    const cost = async (act: string): Promise<number> =>
      (await fuel(`const a = new Uint8Array(1_000_000); ${act}`)) - small
    expect(await cost('structuredClone(a)')).toBeGreaterThan(16_000_000)
    // Looked through, and refused at the end.
    expect(await cost('try { structuredClone([a, () => 1]) } catch {}')).toBeGreaterThan(8_000_000)
  })
})

describe('DOMException', () => {
  it('is an Error with name, message and the code of old', async () => {
    const source = `
      const error = new DOMException('m', 'NotFoundError')
      return [error instanceof Error, String(error), error.code, DOMException.NOT_FOUND_ERR, error.DATA_CLONE_ERR, new DOMException().name, new DOMException('', 'X').code, Object.keys(error), typeof error.stack]`
    expect(await evaluate(source)).toEqual([true, 'NotFoundError: m', 8, 8, 25, 'Error', 0, [], 'string'])
  })

  it('shows its name to the host when nobody catches it', async () => {
    expect(await runtime.run(`throw new DOMException('gone', 'NotFoundError')`)).toMatchObject({
      status: 'failed',
      error: { name: 'NotFoundError', message: 'gone' },
    })
  })
})

describe('crypto', () => {
  it('gives equal bytes for equal seeds, and goes on after a capture', () => {
    const source = `
      const first = crypto.randomUUID()
      await new Promise((resolve) => setTimeout(resolve, 1))
      return [first, [...crypto.getRandomValues(new Uint8Array(40))]]`
    const ends = movedOrNot(source)
    expect(ends[0]).toMatchObject({ status: 'completed' })
    expect(ends[1]).toEqual(ends[0])
  })

  it('fills integers only, at most 65,536 bytes at once, and no more than the view shows', async () => {
    const source = `
      const whole = new Uint8Array(12)
      const view = crypto.getRandomValues(new Uint32Array(whole.buffer, 4, 1))
      const refused = [() => crypto.getRandomValues(new Float64Array(1)), () => crypto.getRandomValues([1]), () => crypto.getRandomValues(new Uint8Array(65_537)), () => new Crypto()].map((fn) => {
        try { fn() } catch (error) { return error.name }
      })
      return [whole.slice(0, 4).every((b) => b === 0), whole.slice(8).every((b) => b === 0), view.length, refused, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(crypto.randomUUID())]`
    expect(await evaluate(source)).toEqual([
      true,
      true,
      1,
      ['TypeMismatchError', 'TypeMismatchError', 'QuotaExceededError', 'TypeError'],
      true,
    ])
  })

  it('digests as the host does', async () => {
    const data = new Uint8Array(300_001).map((_, i) => i)
    const names = ['SHA-1', 'SHA-256', 'SHA-384', 'SHA-512']
    const source = `Promise.all(input.names.map(async (name) => new Uint8Array(await crypto.subtle.digest({ name: name.toLowerCase() }, input.data))))`
    const digests = (await evaluate(source, { names, data })) as readonly Uint8Array[]
    expect(digests.map((bytes) => Buffer.from(bytes).toString('hex'))).toEqual(
      names.map((name) => createHash(name.replace('-', '')).update(data).digest('hex')),
    )
  })

  it('says what to do instead of working with keys', async () => {
    const source = `
      const refused = []
      for (const call of [() => crypto.subtle.digest('MD5', new Uint8Array()), () => crypto.subtle.sign('HMAC')]) {
        try { await call() } catch (error) { refused.push([error.name, error.message]) }
      }
      return refused`
    expect(await evaluate(source)).toEqual([
      ['NotSupportedError', expect.stringContaining('SHA-256')],
      ['NotSupportedError', expect.stringContaining('Grant a capability')],
    ])
  })
})

describe('performance and navigator', () => {
  it('measure logical time from the start of the guest', async () => {
    const source = `const first = performance.now(), second = performance.now(); return [first, second > first, Math.floor(performance.timeOrigin + second) <= Date.now()]`
    const [first, later, before] = (await evaluate(source)) as [number, boolean, boolean]
    expect(first).toBeLessThan(1)
    expect([later, before]).toEqual([true, true])
  })

  it('name us, with the major version of the package', async () => {
    const major = manifest.version.split('.')[0]
    expect(await evaluate('navigator.userAgent')).toBe(`Caisson/${major}`)
  })
})

describe('queueMicrotask and reportError', () => {
  it('run a callback before any timer, and report what is thrown', async () => {
    const outcome = await runtime.run(`
      const order = []
      setTimeout(() => order.push('timer'))
      queueMicrotask(() => order.push('microtask'))
      queueMicrotask(() => { throw new Error('in a microtask') })
      reportError(new Error('reported'))
      Promise.prototype.then = () => { throw new Error('poison') }
      order.push('program')
      return order`)
    expect(outcome).toMatchObject({
      value: ['program', 'microtask', 'timer'],
      unhandledRejections: [{ message: 'reported' }, { message: 'in a microtask', position: { line: 5 } }],
    })
    await expect(evaluate('queueMicrotask(1)')).rejects.toThrow('TypeError')
  })
})

describe('the console', () => {
  it('indents groups, across a capture too', async () => {
    expect(
      await linesOf(`
        console.group('outer'); console.info('a\\nb'); console.groupCollapsed(); console.warn('c')
        await new Promise((resolve) => setTimeout(resolve, 1))
        console.groupEnd(); console.error('d'); console.groupEnd(); console.groupEnd(); console.log('e')`),
    ).toEqual(['log: outer', 'info:   a\n  b', 'warn:     c', 'error:   d', 'log: e'])
  })

  it('counts, measures logical time and asserts', async () => {
    expect(
      await linesOf(`
        console.count(); console.count('x'); console.count(); console.countReset(); console.count(); console.countReset('y')
        console.time(); console.timeLog('default', 1); console.timeEnd(); console.timeEnd(); console.time('z'); console.time('z')
        console.assert(true, 'no'); console.assert(false, 'n = %', 1); console.assert(); console.dir({ a: 1 }); console.clear()`),
    ).toEqual([
      'log: default: 1',
      'log: x: 1',
      'log: default: 2',
      'log: default: 1',
      "warn: Count for 'y' does not exist",
      'log: default: 0.001 ms 1',
      'log: default: 0.002 ms',
      "warn: Timer 'default' does not exist",
      "warn: Timer 'z' already exists",
      'error: Assertion failed: n = % 1',
      'error: Assertion failed',
      'log: { a: 1 }',
    ])
  })

  it('replaces format specifiers, and runs nothing of the guest for them', async () => {
    expect(
      await linesOf(`
        let ran = 0
        const hostile = { toString() { ran += 1; return '1' }, get a() { ran += 1 } }
        console.log('%s is %d, %i%% of %f: %o %O%c.', 'it', 42.9, '7px', '1.50', { a: 1 }, [2], 'color: red', 'more', 3)
        console.warn('%s %d %i %f', hostile, hostile, Symbol('x'), null)
        console.log('%s %s', 10n, -0, '%s'); console.log('100%% %s'); console.error('%x %', 1); console.log(1, '%s', 2)
        console.assert(false, 'n is %d', 7); console.group('%s', 'g'); console.groupEnd(); console.time('%d'); console.timeLog('%d', 5)
        console.info('%o'.repeat(9), 1); console.log(ran)`),
    ).toEqual([
      'log: it is 42, 7% of 1.5: { a: 1 } [ 2 ]. more 3',
      'warn: { toString: [Function: toString], a: [Getter] } NaN NaN NaN',
      'log: 10n -0 %s',
      'log: 100%% %s',
      'error: %x % 1',
      'log: 1 %s 2',
      'error: Assertion failed: n is 7',
      'log: g',
      'log: %d: 0.001 ms 5',
      'info: 1%o%o%o%o%o%o%o%o',
      'log: 0',
    ])
  })

  it('is bounded, whatever a format asks for', async () => {
    const [line = ''] = await linesOf(
      `const big = 'x'.repeat(9000); console.log('%o'.repeat(4000), ...Array.from({ length: 4000 }, () => [big]))`,
    )
    expect(line.length).toBeLessThan(40_000)
    expect(line).toMatch(/^log: \[\n {2}'xxx/)
  })

  it('shows errors with the frames and places of their author alone', async () => {
    const lines = await linesOf(`enum A { B = 1, C }; function make(): Error { return new Error('mine') }
      console.log(make())
      try { new URL('::') } catch (error) { console.log('%o', error) }
      console.log(await new Promise((resolve) => setTimeout(() => resolve(new Error('late')), 1)))
      return 1`)
    expect(lines.join('\n')).not.toContain('caisson:')
    expect(lines[0]).toMatch(
      /^log: Error: mine\n {4}at make \(program\.ts:1:63\)\n {4}at <anonymous> \(program\.ts:2:\d+\)$/,
    )
    expect(lines[1]).toMatch(/^log: TypeError: Invalid URL.*\n {4}at <anonymous> \(program\.ts:3:\d+\)$/)
  })

  it('shows tables, with only the columns that are wanted', async () => {
    expect(
      await linesOf(`console.table([{ a: 1, b: 'x' }, { a: { c: 1 } }], ['a']); console.table(1)`),
    ).toEqual([
      [
        'log: ┌─────────┬──────────┐',
        '│ (index) │ a        │',
        '├─────────┼──────────┤',
        '│ 0       │ 1        │',
        '│ 1       │ { c: 1 } │',
        '└─────────┴──────────┘',
      ].join('\n'),
      'log: 1',
    ])
  })

  it('traces without frames of its own', async () => {
    const [line] = await linesOf(`function here() { console.trace('at', { a: 1 }) }\nhere()`)
    expect(line).toMatch(/^debug: Trace: at \{ a: 1 \}\n {4}at here /)
    expect(line).not.toContain('caisson:')
  })
})
