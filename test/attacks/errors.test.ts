/**
 * Attacks through what a guest throws and rejects: huge, endless, lying, poisoned. What comes out is bounded
 * data about the guest's own source, the host's own frames and paths never show, and the run always has an end.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Outcome, openRuntime, type Runtime } from '../../src/entry/node.ts'

let runtime: Runtime
const unhandled: unknown[] = []
const onUnhandled = (reason: unknown): void => void unhandled.push(reason)
beforeAll(async () => {
  process.on('unhandledRejection', onUnhandled)
  runtime = await openRuntime({})
})
afterAll(async () => {
  await runtime.close()
  process.off('unhandledRejection', onUnhandled)
})

const MANY = 'for (let i = 0; i < 1.5e5; i++) o["k" + i] = i'
const HOSTILE: Readonly<Record<string, string>> = {
  'a message of 10 MB': 'throw new Error("m".repeat(1e7))',
  'a list of 100 long texts': 'throw Array.from({ length: 100 }, () => "x".repeat(8000))',
  'a cause of 100 long texts': 'throw new Error("m", { cause: Array(100).fill("x".repeat(8000)) })',
  'an error with 150,000 properties': `const o = new Error("m"); ${MANY}; throw o`,
  'an object with 150,000 properties': `const o = {}; ${MANY}; throw o`,
  'a Map with 30,000 entries': 'throw new Map(Array.from({ length: 3e4 }, (_, i) => [i, { i }]))',
  'its own cause': 'const e = new Error("m"); e.cause = e; throw e',
  'a chain of 10,000 causes':
    'let e = new Error("m"); for (let i = 0; i < 1e4; i++) e = new Error("m", { cause: e }); throw e',
  'a chain of 10,000 prototypes':
    'let o = new Error("m"); for (let i = 0; i < 1e4; i++) o = Object.create(o); throw o',
  'a Proxy of an error': 'throw new Proxy(new Error("m"), { get() { for (;;); }, ownKeys() { for (;;); } })',
  'getters without end':
    'const e = new Error(); for (const k of ["message", "name", "stack", "code", "cause"]) Object.defineProperty(e, k, { get() { for (;;); } }); throw e',
  'prepareStackTrace without end': 'Error.prepareStackTrace = () => { for (;;); }; throw new Error("m")',
  'prepareStackTrace that gives frames away': 'Error.prepareStackTrace = (e, s) => s; throw new Error("m")',
  'a stack trace without limit':
    'Error.stackTraceLimit = Infinity; (function f(n) { if (n === 0) throw new Error("m"); f(n - 1) })(100)',
  'a forged stack':
    'const e = new Error("m"); e.stack = "at f (/etc/passwd:1:99999999999999999999)\\n".repeat(1e5); throw e',
  'a symbol of a million characters': 'throw Symbol("x".repeat(1e6))',
  'a BigInt of 90,000 bits': 'throw 2n ** 90000n',
  undefined: 'throw undefined',
}

describe('what a guest throws', () => {
  for (const [name, source] of Object.entries(HOSTILE)) {
    it(`is a bounded failure, thrown, rejected and unhandled: ${name}`, async () => {
      const thrower = `const thrower = () => { ${source} };`
      const ways = [
        source,
        `${thrower} await new Promise((_, reject) => { try { thrower() } catch (e) { reject(e) } })`,
        `${thrower} (async () => thrower())(); 5`,
      ]
      for (const [i, way] of ways.entries()) {
        const outcome = await runtime.run(way, { limits: { memoryBytes: 256 * 1024 * 1024 } })
        expect(outcome.status).toBe(i === 2 ? 'completed' : 'failed')
        expect(outcome.unhandledRejections).toHaveLength(i === 2 ? 1 : 0)
        const { error = outcome.unhandledRejections[0] } = outcome as { error?: unknown }
        expect(JSON.stringify(error).length).toBeLessThan(200_000)
        expect(JSON.stringify(error)).not.toMatch(/caisson:setup|node:internal|\.ts:|wasm/)
      }
    })
  }

  it('names the position in the source as the author wrote it, also of syntax errors', async () => {
    const positionOf = async (source: string): Promise<unknown> => {
      const outcome = await runtime.run(source)
      return outcome.status === 'failed' ? outcome.error.position : outcome
    }
    for (const prefix of ['', 'if (input) return 1; ', 'await 0; ']) {
      const column = prefix.length + 1
      expect(await positionOf(`${prefix}throw new Error("m")`)).toMatchObject({ file: 'program.js', line: 1 })
      expect(await positionOf(`${prefix}) 5`)).toEqual({ file: 'program.js', line: 1, column })
    }
    expect(await positionOf('return 1\n  ) 5')).toEqual({ file: 'program.js', line: 2, column: 3 })
  })
})

describe('rejections that nobody handles', () => {
  const lengths = async (source: string): Promise<number> => {
    const outcome: Outcome = await runtime.run(source)
    expect(outcome.status).toBe('completed')
    return outcome.unhandledRejections.length
  }

  it('are reported one by one, also where the promises are gone', async () => {
    expect(await lengths('for (let i = 0; i < 7; i++) Promise.reject(new Error("r" + i)); 5')).toBe(7)
    expect(await lengths('globalThis.a = []; for (let i = 0; i < 7; i++) a.push(Promise.reject(i)); 5')).toBe(
      7,
    )
  })

  it('are bounded, whether their promises are kept or not', async () => {
    expect(await lengths('for (let i = 0; i < 2e4; i++) Promise.reject(i); 5')).toBe(100)
    expect(
      await lengths('globalThis.a = []; for (let i = 0; i < 2e4; i++) a.push(Promise.reject(i)); 5'),
    ).toBe(100)
  })

  it('do not count where they are handled in the same turn', async () => {
    expect(await lengths('for (let i = 0; i < 2e4; i++) Promise.reject(i).catch(() => {}); 5')).toBe(0)
    const mixed = 'for (let i = 0; i < 50; i++) { Promise.reject(i).catch(() => {}); Promise.reject(i) } 5'
    expect(await lengths(mixed)).toBe(50)
    expect(unhandled).toEqual([])
  })
})
