/** Attacks on memory and stack (ATTACKS B). */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openRuntime, type Runtime } from '../../src/entry/node.ts'

const MiB = 1024 * 1024
let runtime: Runtime
beforeAll(async () => {
  runtime = await openRuntime({})
})
afterAll(() => runtime.close())

async function expectHostUnharmed(): Promise<void> {
  expect(await runtime.run('1 + 2')).toMatchObject({ status: 'completed', value: 3 })
}

const GREEDY: Readonly<Record<string, string>> = {
  'many small allocations': 'const a = []; for (;;) a.push({ x: a.length })',
  'many allocations below the cap': 'const a = []; for (;;) a.push(new Uint8Array(1e6))',
  'one allocation above the cap': 'new Uint8Array(1e9)',
  'long strings': 'const a = []; for (let i = 0; ; i++) a.push(String(i).repeat(1e5))',
  'a padded string': "'x'.padEnd(5e8) + 'y'.repeat(5e8)",
  'a spread of 100 MB': '[...new Uint8Array(1e8)]',
  closures: 'let f = () => 0; const a = []; for (;;) { const g = f; f = () => g; a.push(f) }',
  'a catch around it all':
    'for (;;) { try { const a = []; for (;;) a.push(new Array(1000).fill(a)) } catch {} }',
  'a map without end': 'const m = new Map(); for (let i = 0; ; i++) m.set(i, { i })',
  'weak references': 'const a = []; for (;;) { const o = {}; a.push(new WeakRef(o), o) }',
}

const DEEP: Readonly<Record<string, string>> = {
  'plain recursion': 'function f() { f() } f()',
  'recursion inside a catch': 'function f() { try { f() } catch { f() } } f()',
  'recursion through map': '(function f() { [1].map(f) })()',
  'recursion through sort': '(function f() { [2, 1].sort(f); return 0 })()',
  'recursion through replace': "(function f() { 'a'.replace(/a/, f); return 'a' })()",
  'recursion through toString': "const o = { toString() { return '' + o } }; '' + o",
  'recursion through a Proxy': 'const p = new Proxy({}, { get(t, k) { return p[k] } }); p.x',
  'recursion through a getter': '({ get x() { return this.x } }).x',
  'a chain of bound functions': 'let f = () => 1; for (let i = 0; i < 3e3; i++) f = f.bind(null); f()',
}

describe('a guest that wants too much memory', () => {
  for (const [name, source] of Object.entries(GREEDY)) {
    it(`ends for memory: ${name}`, async () => {
      const outcome = await runtime.run(source, { limits: { memoryBytes: 16 * MiB } })
      expect(outcome).toMatchObject({ status: 'exhausted', limit: 'memory' })
      expect(outcome.usage.memoryBytes).toBeLessThanOrEqual(16 * MiB)
      await expectHostUnharmed()
    })
  }
})

describe('a guest that recurses too deep', () => {
  for (const [name, source] of Object.entries(DEEP)) {
    it(`ends for stack: ${name}`, async () => {
      const outcome = await runtime.run(source)
      expect(outcome).toMatchObject({ status: 'exhausted', limit: 'stack' })
      await expectHostUnharmed()
    })
  }

  it('is told by an error or ended when a document or a source is nested too deep', async () => {
    for (const source of [
      "JSON.parse('['.repeat(2e5))",
      "eval('('.repeat(1e5))",
      "eval('['.repeat(1e5) + ']'.repeat(1e5))",
      "new RegExp('('.repeat(1e5) + ')'.repeat(1e5))",
      'let x = []; for (let i = 0; i < 1e5; i++) x = [x]; JSON.stringify(x)',
      'let x = []; for (let i = 0; i < 1e5; i++) x = [x]; x.flat(Infinity)',
    ]) {
      const outcome = await runtime.run(source)
      expect(['failed', 'exhausted']).toContain(outcome.status)
      if (outcome.status === 'exhausted') expect(outcome.limit).toBe('stack')
      await expectHostUnharmed()
    }
  })

  it('ends at the same depth whatever the depth of the host', async () => {
    const source = 'let n = 0; (function f() { n++; console.log(n); f() })()'
    const run = () => runtime.run(source, { limits: { stackBytes: 512 * 1024 } })
    const shallow = await run()
    const deep = await (function recurse(n: number): Promise<typeof shallow> {
      return n === 0 ? run() : recurse(n - 1)
    })(3_000)
    expect(shallow.logs.length).toBeGreaterThan(10)
    expect(deep.logs.length).toBe(shallow.logs.length)
    expect(deep.usage.fuel).toBe(shallow.usage.fuel)
  })
})

describe('instances', () => {
  it('survive a thousand traps without growing the host', async () => {
    for (let i = 0; i < 200; i += 1) await runtime.run('while (1);', { limits: { fuel: 1_000_000 } })
    globalThis.gc?.()
    const before = process.memoryUsage().rss
    for (let i = 0; i < 1_000; i += 1) await runtime.run('while (1);', { limits: { fuel: 1_000_000 } })
    globalThis.gc?.()
    expect(process.memoryUsage().rss - before).toBeLessThan(40 * MiB)
  })

  it('carry nothing from one guest to the next', async () => {
    const secret = 'correct-horse-battery-staple'
    await runtime.run(`globalThis.kept = input + '!'; for (let i = 0; i < 1000; i++) kept += 'x'`, {
      input: secret,
    })
    const outcome = await runtime.run('typeof kept')
    expect(outcome).toMatchObject({ status: 'completed', value: 'undefined' })
  })
})
