/** Attacks on time (ATTACKS A): whatever burns CPU ends as `exhausted`, in the host's own thread, uncatchable. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openRuntime, type Runtime } from '../../src/entry/node.ts'

let runtime: Runtime
beforeAll(async () => {
  runtime = await openRuntime({})
})
afterAll(() => runtime.close())

/** The host is alive, unchanged, and a neighbour answers. */
async function expectHostUnharmed(): Promise<void> {
  expect(Object.keys(Object.prototype)).toEqual([])
  expect(await runtime.run('1 + 2')).toMatchObject({ status: 'completed', value: 3 })
}

const ENDLESS: Readonly<Record<string, string>> = {
  'a bare loop': 'while (1);',
  'a loop inside catch': 'for (;;) { try { while (1); } catch { continue } }',
  'a loop inside finally': 'try { throw 1 } finally { while (1); }',
  'a finally that loops again when it is interrupted':
    '(function f() { try { while (1); } finally { f() } })()',
  'a loop in a getter': '({ get x() { while (1); } }).x',
  'a loop in a Proxy trap': 'new Proxy({}, { get() { while (1); } }).x',
  'a loop in a generator': '[...(function* () { while (1) ; })()]',
  'an endless generator': 'for (const x of (function* () { while (1) yield 1 })()) ;',
  'a loop in valueOf': '+{ valueOf() { while (1); } }',
  'a loop in a sort comparator': '[3, 2, 1].sort(() => { while (1); })',
  'an async IIFE inside a promise with a catch':
    'new Promise((resolve) => { (async () => { while (true); })() }).catch(() => 1)',
  'a microtask flood':
    'const again = () => Promise.resolve().then(again); await again(); await new Promise(() => {})',
  'an await loop': 'for (;;) await 0',
  'a recursive thenable': 'const t = { then(r) { r(t) } }; await t',
  'a sparse array turned into text': "new Array(1e9) + ''",
  'a join of the longest array': "new Array(0xffffffff).join('')",
  'regular expression backtracking': "/(a+)+$/.test('a'.repeat(60) + 'b')",
  'a stringify of a shared graph':
    'let x = {}; for (let i = 0; i < 40; i++) x = { a: x, b: x }; JSON.stringify(x)',
  'quadratic indexOf': "const s = 'a'.repeat(1e6); for (let i = 0; i < 1e6; i++) s.indexOf('b')",
  'the reverse of a huge array-like': 'Array.prototype.reverse.call({ length: 2 ** 53 - 1 })',
  'BigInt squaring': 'let b = 3n; for (;;) b = b * b % (2n ** 100000n)',
  'a loop on the clock': 'const t = Date.now() + 1e9; while (Date.now() < t);',
  'typed array fills': 'const a = new Uint8Array(8e6); for (;;) a.fill(1)',
  'typed array copies': 'const a = new Uint8Array(8e6); for (;;) a.copyWithin(0, 1)',
  'array buffer slices': 'const a = new ArrayBuffer(8e6); for (;;) a.slice(0)',
  'a flood of sorts': 'for (;;) Array.from({ length: 1e4 }, (_, i) => -i).sort()',
  'evaluation of a huge source': "const s = '1' + '+1'.repeat(5e5); for (;;) eval(s)",
  'parsing a huge document': "const s = '[' + '1,'.repeat(5e5) + '1]'; for (;;) JSON.parse(s)",
}

describe('a guest that burns CPU', () => {
  for (const [name, source] of Object.entries(ENDLESS)) {
    it(`ends for fuel: ${name}`, async () => {
      const outcome = await runtime.run(source, { limits: { fuel: 200_000_000, wallMs: 60_000 } })
      expect(outcome).toMatchObject({ status: 'exhausted', limit: 'fuel' })
      expect(outcome.usage.fuel).toBeGreaterThan(200_000_000)
      // Overrun at most what one slice between two checks can hold.
      expect(outcome.usage.fuel).toBeLessThan(400_000_000)
      await expectHostUnharmed()
    })
  }

  it('ends at a wall deadline without any fuel limit near', async () => {
    for (const source of ['while (1);', "new Array(1e9) + ''", "/(a+)+$/.test('a'.repeat(60) + 'b')"]) {
      const outcome = await runtime.run(source, { limits: { fuel: 2 ** 52, wallMs: 100 } })
      expect(outcome).toMatchObject({ status: 'exhausted', limit: 'wall' })
    }
    await expectHostUnharmed()
  })

  it('cannot catch the end', async () => {
    const outcome = await runtime.run(
      'try { while (1); } catch { globalThis.caught = 1 } finally { while (1); }',
      {
        limits: { fuel: 50_000_000 },
      },
    )
    expect(outcome).toMatchObject({ status: 'exhausted', limit: 'fuel' })
  })

  it('runs out at the same fuel every time', async () => {
    const run = () => runtime.run('let n = 0; for (;;) n += Math.sqrt(n)', { limits: { fuel: 77_777_777 } })
    const [first, second] = [await run(), await run()]
    expect(first.usage.fuel).toBe(second.usage.fuel)
  })
})
