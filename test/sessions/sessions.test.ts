/** Sessions: one guest that is told one program after the other. */
import { afterAll, describe, expect, it } from 'vitest'
import { capability, type GuestSession, type OpenSessionOptions, openRuntime } from '../../src/entry/node.ts'

const asked: unknown[] = []
const ask = capability({
  name: 'world.ask',
  description: 'Gives back what it is asked',
  effect: 'read',
  idempotent: true,
  invoke: (question: unknown) => {
    asked.push(question)
    return question
  },
})
const runtime = await openRuntime({ capabilities: [ask] })
afterAll(() => runtime.close())

const open = (options: OpenSessionOptions = {}): Promise<GuestSession> =>
  runtime.openSession({ grants: ['world.ask'], ...options })

/** The values of turns; of one that did not complete, how it ended. */
async function turns(session: GuestSession, ...sources: readonly string[]): Promise<unknown> {
  const values: unknown[] = []
  for (const source of sources) {
    const outcome = await session.evaluate(source)
    if (outcome.status === 'completed') values.push(outcome.value)
    else if (outcome.status === 'failed') values.push(`${outcome.error.name}: ${outcome.error.message}`)
    else values.push(outcome.status)
  }
  return values
}

describe('turns of a session', () => {
  it('give the value of the last expression, and leave what they declare', async () => {
    const session = await open()
    expect(
      await turns(
        session,
        'const a = 1, { b, c: [d] } = { b: 2, c: [3] }; a + b + d',
        'let list = [a, b]; list.push(d)',
        'function sum() { return list.reduce((x, y) => x + y) }',
        'class Counter { static made = 0; n = 0; next() { return ++this.n } }\n;[1].length',
        'const counter = new Counter(); counter.next()',
        '[sum(), counter.next(), Counter.name]',
      ),
    ).toEqual([6, 3, undefined, 1, 1, [6, 2, 'Counter']])
    expect(session.turns).toBe(6)
  })

  it('may declare again what an earlier one declared', async () => {
    expect(
      await turns(
        await open(),
        'const x = 1; let y = 1; class A { v() { return 1 } } function f() { return 1 }',
        'const x = 2; let y; class A { v() { return 2 } } function f() { return 2 }; [x, y, new A().v(), f()]',
        'let x = 3, f = 4; [x, f]',
      ),
    ).toEqual([undefined, [2, undefined, 2, 2], [3, 4]])
  })

  it('keep the names of blocks, loops and functions to themselves', async () => {
    expect(
      await turns(
        await open(),
        'const fs = []; for (let i = 0; i < 3; i++) fs.push(() => i); { const hidden = 1; class B {} }',
        '[fs.map((f) => f()), typeof hidden, typeof B, typeof i]',
      ),
    ).toEqual([3, [[0, 1, 2], 'undefined', 'undefined', 'undefined']])
  })

  it('await at the top level, with calls and timers, and wait for what they left', async () => {
    const session = await open()
    expect(
      await turns(
        session,
        "const answer = await world.ask('what'); answer",
        'let late = 0; setTimeout(() => { late = 7 }, 5)',
        '[answer, late]',
      ),
    ).toEqual(['what', expect.anything(), ['what', 7]])
  })

  it('are TypeScript where it looks so, or is said to be', async () => {
    const session = await open()
    expect(
      await turns(
        session,
        'interface P { x: number }\nconst p: P = { x: 1 }',
        'enum Color { Red = 3, Green }\np.x + Color.Green',
        'abstract class Shape<T> { constructor(readonly side: T) {} }',
        'class Square extends Shape<number> {}; let n: number | undefined, m = 2; [new Square(4).side, n, m]',
      ),
    ).toEqual([undefined, 5, undefined, [4, undefined, 2]])
    expect(await session.evaluate('var g = <T>(x: T): T => x; g(1)', { language: 'ts' })).toMatchObject({
      value: 1,
    })
  })

  it('import modules, whose exports persist', async () => {
    const session = await open({
      modules: { './math.js': 'export const two = 2; export default (x) => x * two; export class Box {}' },
    })
    expect(
      await turns(
        session,
        "import twice, { two as zwei, Box } from './math.js'\nimport * as math from './math.js'\ntwice(zwei)",
        '[twice(4), zwei, math.two, new Box() instanceof math.Box]',
        "import './nowhere.js'",
        'twice(5)',
      ),
    ).toEqual([4, [8, 2, 2, true], expect.stringMatching(/nowhere/), 10])
  })

  it('import nothing that a module does not export, but for what may be a type', async () => {
    const session = await open({ modules: { './math.js': 'export const two = 2; export let none' } })
    const wrong = await session.evaluate(
      "const a = 1\nimport {\n  two,\n  three as drei,\n} from './math.js'",
    )
    expect(wrong).toMatchObject({
      status: 'failed',
      error: {
        name: 'SyntaxError',
        message: "Could not find export 'three' in module './math.js'",
        position: { file: 'turn-1.js', line: 4, column: 3 },
      },
    })
    expect(await session.evaluate("import math, { two } from './math.js'")).toMatchObject({
      error: { message: "Could not find export 'default' in module './math.js'", position: { column: 8 } },
    })
    expect(
      await turns(
        session,
        "import { two, none } from './math.js'; [two, none]",
        "import { Shape, two as zwei } from './math.js'\nconst s: Shape | number = zwei; s",
        "import { Shape, two as zwei } from './math.js'\nconst s: number = zwei; new Shape()",
      ),
    ).toEqual([[2, undefined], 2, "SyntaxError: Could not find export 'Shape' in module './math.js'"])
  })

  it('may end with a return', async () => {
    const session = await open()
    expect(
      await turns(session, 'const a = 1; return a + 1', 'return { a };', 'return', 'a\nreturn [a]\n// done'),
    ).toEqual([2, { a: 1 }, undefined, [1]])
    expect(await session.evaluate('if (a) return 1')).toMatchObject({
      error: { message: 'return not in a function', position: { line: 1, column: 8 } },
      hint: expect.stringContaining('without `return`'),
    })
  })

  it('have no exports', async () => {
    expect(await turns(await open(), 'export const x = 1')).toEqual([
      expect.stringMatching(/^SyntaxError: a session has no exports/),
    ])
  })

  it('complete with what only the guest can hold', async () => {
    const session = await open()
    const outcome = await session.evaluate('const f = () => 1; f')
    expect(outcome).toMatchObject({
      status: 'completed',
      value: undefined,
      unread: expect.stringMatching(/function/),
    })
    expect(await turns(session, 'f()')).toEqual([1])
  })
})

describe('a turn that does not complete', () => {
  it.each([
    ['throws', "x = 2; globalThis.y = 1; delete Array.prototype.map; throw new Error('no')", {}],
    ['does not parse', 'x = 2; const', {}],
    ['runs out of fuel', 'x = 2; for (;;);', { fuel: 50_000_000 }],
    [
      'runs out of memory',
      'x = 2; const k = []; for (;;) k.push(new Uint8Array(1e5))',
      { memoryBytes: 4 << 20 },
    ],
    ['recurses without end', 'x = 2; (function f() { f() })()', {}],
    ['asks too often', "x = 2; for (;;) await world.ask('?')", { calls: 3 }],
  ])('leaves the guest as it was: one that %s', async (_, source, limits) => {
    const session = await open()
    await session.evaluate('var x = 1')
    const outcome = await session.evaluate(source, { limits })
    expect(outcome.status).toMatch(/failed|exhausted/)
    expect(await turns(session, '[x, typeof y, typeof Array.prototype.map]')).toEqual([
      [1, 'undefined', 'function'],
    ])
    expect(session.turns).toBe(2)
  })

  it('says where, in the turn as it was written', async () => {
    const session = await open()
    const outcome = await session.evaluate('const a = 1\nclass A {} ; null.x')
    expect(outcome).toMatchObject({ error: { position: { file: 'turn-1.js', line: 2, column: 18 } } })
  })
})

describe('a session', () => {
  it('says where in functions of earlier turns too, also when all turns have one name, and after a checkpoint', async () => {
    const session = await open()
    const fileName = 'prompt.js'
    await session.evaluate('let a,b,c; function early() { return null.x }')
    await session.evaluate('let a,b,c; function named() { return null.x }', { fileName })
    const moved = await open({ from: await session.checkpoint() })
    for (const one of [session, moved]) {
      for (const [source, file, column] of [
        ['early()', 'turn-1.js', 42],
        ['named()', fileName, 42],
      ] as const) {
        expect(await one.evaluate(source)).toMatchObject({
          error: { position: { file, line: 1, column } },
        })
      }
      expect(await one.evaluate(`${' '.repeat(40)}null.x`, { fileName })).toMatchObject({
        error: { position: { file: fileName, line: 1, column: 45 } },
      })
    }
  })

  it('gives each turn its own limits', async () => {
    const session = await open({ limits: { fuel: 60_000_000, calls: 2 } })
    const work = "await world.ask(1); await world.ask(2); for (let i = 0; i < 1e5; i++); 'done'"
    expect(await turns(session, work, work, work)).toEqual(['done', 'done', 'done'])
  })

  it('has one time and one randomness: equal seeds, equal sessions', async () => {
    const draws = async (): Promise<unknown> =>
      turns(await open({ seed: 7 }), 'Math.random()', 'Math.random()', 'crypto.randomUUID()')
    const first = (await draws()) as number[]
    expect(await draws()).toEqual(first)
    expect(first[0]).not.toBe(first[1])
  })

  it('takes one turn at a time, and none once it is closed', async () => {
    const session = await open()
    const turn = session.evaluate("await world.ask('slow')")
    await expect(session.evaluate('1')).rejects.toMatchObject({ code: 'busy' })
    await expect(session.checkpoint()).rejects.toMatchObject({ code: 'busy' })
    await turn
    session.close()
    await expect(session.evaluate('1')).rejects.toMatchObject({ code: 'disposed' })
  })

  it.each(['host', 'worker'] as const)(
    'goes on from a checkpoint in another runtime: thread %s',
    async (thread) => {
      const session = await open({ thread })
      await turns(
        session,
        'let n = 1; const next = () => ++n; const m = new Map([[1, { deep: [n] }]])',
        'next()',
      )
      const checkpoint = await session.checkpoint()
      const other = await openRuntime({ capabilities: [ask] })
      const again = await other.openSession({ from: checkpoint, grants: ['world.ask'], thread })
      expect(again.turns).toBe(2)
      expect(await turns(again, '[next(), m.get(1).deep]', "await world.ask('still')")).toEqual([
        [3, [1]],
        'still',
      ])
      await other.close()
      // The first one is where it was.
      expect(await turns(session, 'next()')).toEqual([3])
    },
  )

  it('can be kept before its first turn', async () => {
    const checkpoint = await (await open()).checkpoint()
    expect(await turns(await open({ from: checkpoint }), 'typeof x')).toEqual(['undefined'])
  })

  it('refuses a checkpoint of a program, of another domain, and under other grants; a guest refuses that of a session', async () => {
    const guest = await runtime.start("await world.ask('x')", { grants: ['world.ask'] })
    const ofGuest = await guest.checkpoint()
    guest.dispose()
    await expect(open({ from: ofGuest })).rejects.toMatchObject({ code: 'checkpoint_refused' })
    const session = await open()
    await session.evaluate('1')
    const bytes = await session.checkpoint()
    await expect(open({ from: bytes, domain: 'other' })).rejects.toMatchObject({ code: 'checkpoint_refused' })
    await expect(runtime.restore(bytes, { grants: ['world.ask'] })).rejects.toMatchObject({
      code: 'checkpoint_refused',
    })
    await expect(runtime.openSession({ from: bytes })).rejects.toMatchObject({
      code: 'checkpoint_refused',
      details: { missing: ['world.ask'], added: [] },
    })
  })

  it('gets its input as data, whatever an earlier turn put in its place', async () => {
    const session = await open()
    await session.evaluate('globalThis.stolen = []; 0', { input: 1 })
    for (const place of ['globalThis', 'Object.prototype']) {
      await session.evaluate(
        `delete globalThis.input; Object.defineProperty(${place}, 'input', { set(value) { stolen.push(value) }, get() { return 'forged' }, configurable: true }); 0`,
      )
      expect(await session.evaluate('[input, stolen]', { input: { secret: 7 } })).toMatchObject({
        value: [{ secret: 7 }, []],
      })
    }
  })

  it('can assign to its input, as any program', async () => {
    const session = await open()
    expect(await turns(session, '"use strict"; input = 1; input', '"use strict"; input = 2; input')).toEqual([
      1, 2,
    ])
    expect(await session.evaluate('"use strict"; input += 1; input', { input: 5 })).toMatchObject({
      value: 6,
    })
  })

  it.each([
    ['an accessor', "{ set() {}, get() { return 'forged' }, configurable: true }"],
    ['a constant', "{ value: 'forged' }"],
  ])('gives no value that %s of an earlier turn forged', async (_, descriptor) => {
    const session = await open()
    await session.evaluate(`Object.defineProperty(Object.prototype, 'value', ${descriptor}); 0`)
    expect(await session.evaluate("'mine'")).toMatchObject({ value: 'mine' })
    expect(await session.evaluate("await null; 'mine'")).toMatchObject({
      status: 'failed',
      error: { name: 'TypeError', message: expect.stringContaining('The value of the program is lost') },
    })
    expect(session.turns).toBe(2)
  })

  it('may be taken up by several guests, which draw the same numbers unless they are told to fork', async () => {
    const session = await open({ seed: 1 })
    await session.evaluate('Math.random(); crypto.randomUUID()')
    const from = await session.checkpoint()
    const draw = async (fork?: string): Promise<unknown> => {
      const copy = await open({ from, ...(fork !== undefined && { fork }) })
      return turns(copy, 'Math.random()', 'crypto.randomUUID()')
    }
    const same = await draw()
    expect(await draw()).toEqual(same)
    const [a, b] = [await draw('a'), await draw('b')]
    expect(await draw('a')).toEqual(a)
    expect(new Set([same, a, b].flatMap((pair) => pair as unknown[])).size).toBe(6)
    await expect(open({ from, fork: 1 as never })).rejects.toMatchObject({ code: 'invalid_argument' })
  })

  it('calls what it is granted, whatever an earlier turn overwrote', async () => {
    const session = await open()
    asked.length = 0
    await session.evaluate(`
      for (const name of Object.getOwnPropertyNames(Array.prototype)) {
        try { Array.prototype[name] = () => { throw new Error('poison') } } catch {}
      }
      Object.defineProperty(Object.prototype, 'x', { set() { throw new Error('poison') }, configurable: true })
      Promise.prototype.then = Function.prototype.call = Function.prototype.apply = () => 'forged'
      Symbol.iterator; Map.prototype.get = () => 'forged'; 0`)
    const outcome = await session.evaluate('var answer; answer = await world.ask({ q: [1, 2] })')
    expect(asked).toEqual([{ q: [1, 2] }])
    expect(outcome).toMatchObject({ status: 'completed', value: { q: [1, 2] } })
  })
})
