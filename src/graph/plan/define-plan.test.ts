import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CaissonError } from '../../base/errors.ts'
import { definePlan, readPlan } from './define-plan.ts'
import type { Plan } from './plan.ts'

const PRICES = {
  format: 'plan/1',
  name: 'prices',
  version: '1.0.0',
  grants: [
    'sql.query',
    { capability: 'net.fetch', calls: 100, only: { '/url': [{ prefix: 'https://a.test/' }] } },
  ],
  budget: { fuel: 1e9, calls: 200, units: { cents: 50 } },
  nodes: {
    query: {
      kind: 'call',
      capability: 'sql.query',
      input: { text: 'select 1', day: { $from: 'input/day' } },
    },
    enrich: {
      kind: 'each',
      over: { $from: 'query/rows' },
      most: 500,
      do: {
        nodes: {
          fetch: {
            kind: 'program',
            source: 'return 1',
            input: { item: { $from: 'item' }, all: { $from: 'query' } },
            grants: [{ capability: 'net.fetch', calls: 5 }],
            retry: { attempts: 2, on: ['transient', 'rate-limited'] },
            fallback: [{ on: ['timeout'], value: null }, { node: 'guess' }],
          },
          guess: { kind: 'program', source: 'return 0' },
        },
        output: { $from: 'fetch' },
      },
    },
    ok: { kind: 'approval', question: 'Publish?', show: { $from: 'enrich' } },
    which: {
      kind: 'choice',
      cases: [{ when: { $eval: 'rows.length > 3', with: { rows: { $from: 'enrich' } } }, take: ['publish'] }],
      otherwise: ['drop'],
      after: ['ok'],
    },
    publish: {
      kind: 'call',
      capability: 'sql.query',
      input: { $value: { $from: 'as it is' } },
      compensate: { kind: 'call', capability: 'sql.query', input: { id: { $from: 'output/id' } } },
    },
    drop: { kind: 'wait', forMs: 10 },
  },
  output: { $from: 'publish' },
} as const satisfies Plan

/** The problems of a plan in which a value stands at one place. */
function problemsWith(at: string, value: unknown): string[] {
  const plan = structuredClone(PRICES) as object
  const path = at.slice(1).split('/')
  const last = path.pop() as string
  const holder = path.reduce((object, key) => (object as Record<string, object>)[key] as object, plan)
  Object.defineProperty(holder, last, { value, enumerable: true, configurable: true, writable: true })
  return (readPlan(plan).problems?.found ?? []).map((one) => `${one.at}: ${one.problem}`)
}

describe('a plan', () => {
  it('is checked, frozen and named by its digest', () => {
    const { plan, digest } = definePlan(PRICES)
    expect(digest).toMatch(/^sha256:[0-9a-f]{64}$/)
    expect(Object.isFrozen(plan.nodes)).toBe(true)
    expect(plan).toEqual(PRICES)
  })

  it('has the same digest whatever the order of its keys', () => {
    const turned = Object.fromEntries(Object.entries(structuredClone(PRICES)).reverse()) as unknown as Plan
    expect(definePlan(turned).digest).toBe(definePlan(PRICES).digest)
  })

  it('has another digest when anything of it changes', () => {
    const other = structuredClone(PRICES) as { budget: { calls: number } }
    other.budget.calls += 1
    expect(definePlan(other as unknown as Plan).digest).not.toBe(definePlan(PRICES).digest)
  })

  it('leaves out members that are undefined', () => {
    expect(definePlan({ ...PRICES, description: undefined } as unknown as Plan).digest).toBe(
      definePlan(PRICES).digest,
    )
  })

  it('does not change when the object that it was made of does', () => {
    const mine = structuredClone(PRICES) as { name: string }
    const { plan } = definePlan(mine as unknown as Plan)
    mine.name = 'other'
    expect(plan.name).toBe('prices')
  })

  it('is refused with all problems and their places', () => {
    const broken = { ...PRICES, version: '', nodes: { ...PRICES.nodes, x: { kind: 'progam' } } }
    try {
      definePlan(broken as unknown as Plan)
      expect.unreachable()
    } catch (error) {
      expect(CaissonError.is(error, 'invalid_plan')).toBe(true)
      const { problems } = (error as CaissonError).details as { problems: { at: string; problem: string }[] }
      expect(problems.map(({ at }) => at)).toEqual(['/version', '/nodes/x/kind'])
      expect(problems[1]?.problem).toContain('did you mean "program"?')
    }
  })
})

describe('a plan is refused that', () => {
  const cyclic: { itself?: unknown } = {}
  cyclic.itself = cyclic
  const cases: readonly [what: string, at: string, value: unknown, expected: RegExp][] = [
    [
      'has an unknown key',
      '/nodes/query/retrys',
      {},
      /^\/nodes\/query\/retrys: is not known here. Did you mean "retry"/,
    ],
    [
      'refers to a node that is not there',
      '/nodes/enrich/over',
      { $from: 'qery/rows' },
      /^\/nodes\/enrich\/over\/\$from: there is no node "qery" \(did you mean "query"/,
    ],
    [
      'refers to an item outside of an each',
      '/nodes/query/input',
      { $from: 'item' },
      /only the nodes of an "each" have an item/,
    ],
    [
      'waits for itself',
      '/nodes/query/after',
      ['ok'],
      /^\/nodes\/query: waits for itself: query waits for ok waits for enrich waits for query/,
    ],
    [
      'waits for itself through an inner scope',
      '/nodes/query/input',
      { $from: 'enrich' },
      /waits for itself/,
    ],
    ['waits for its own choice', '/nodes/which/after', ['publish'], /waits for itself/],
    [
      'grants a node what it has not',
      '/nodes/enrich/do/nodes/fetch/grants',
      ['kv.get'],
      /"kv.get" is not among the grants of the plan/,
    ],
    [
      'grants a node more than it has',
      '/nodes/enrich/do/nodes/fetch/grants/0/calls',
      101,
      /calls is 101, and the plan around it has 100/,
    ],
    [
      'calls what it has not',
      '/nodes/query/capability',
      'sql.quary',
      /"sql.quary" is not among the grants of the plan \(did you mean "sql.query"/,
    ],
    [
      'gives a node more than it has itself',
      '/nodes/query/budget',
      { calls: 201 },
      /^\/nodes\/query\/budget\/calls: is 201, and what is around it has 200/,
    ],
    [
      'gives units that it has not',
      '/nodes/query/budget',
      { units: { cents: 51 } },
      /^\/nodes\/query\/budget\/units\/cents/,
    ],
    [
      'gives a plan in it what it has not',
      '/nodes/inner',
      {
        kind: 'plan',
        plan: {
          format: 'plan/1',
          name: 'i',
          version: '1',
          grants: ['kv.get'],
          nodes: { a: { kind: 'wait', forMs: 1 } },
        },
      },
      /^\/nodes\/inner\/plan\/grants\/0: "kv.get" is not among the grants of the plan$/,
    ],
    [
      'gives a plan in it more of one part, and names another',
      '/nodes/inner',
      {
        kind: 'plan',
        budget: { fuel: 1 },
        plan: {
          format: 'plan/1',
          name: 'i',
          version: '1',
          budget: { calls: 201 },
          nodes: { a: { kind: 'wait', forMs: 1 } },
        },
      },
      /^\/nodes\/inner\/plan\/budget\/calls: is 201, and what is around it has 200$/,
    ],
    ['has a budget below zero', '/budget/fuel', -1, /^\/budget\/fuel: must be a whole number from 0/],
    [
      'chooses twice over a node',
      '/nodes/enrich2',
      { kind: 'choice', cases: [{ when: true, take: ['drop'] }] },
      /decided by "which" already/,
    ],
    [
      'waits for two things',
      '/nodes/drop/event',
      'x',
      /needs exactly one of forMs, until, event, and has forMs and event/,
    ],
    ['tries again what was denied', '/nodes/enrich/do/nodes/fetch/retry/on', ['denied'], /never tried again/],
    ['has a reference of another form', '/nodes/query/input', { $ref: 'x' }, /is no reference/],
    [
      'has something beside a reference',
      '/nodes/query/input',
      { $from: 'input', x: 1 },
      /"\$from" stands alone/,
    ],
    [
      'has an id that is a name of every object',
      '/nodes/constructor',
      { kind: 'wait', forMs: 1 },
      /is a name of every object/,
    ],
    [
      'has a node called input',
      '/nodes/input',
      { kind: 'wait', forMs: 1 },
      /means something else in references/,
    ],
    [
      'gives an expression a word of the language as a name',
      '/nodes/query/input',
      { $eval: '1', with: { class: 1 } },
      /^\/nodes\/query\/input\/with\/class: is no name of a value/,
    ],
    ['holds a function', '/nodes/query/input', { f: () => 1 }, /function/],
    ['holds a Date', '/nodes/query/input', { f: new Date(0) }, /is no plain object/],
    ['holds NaN', '/nodes/query/input', { f: Number.NaN }, /JSON cannot say/],
    [
      'holds itself',
      '/nodes/query/input',
      cyclic,
      /nested more than 128 deep, or in itself|more than 200000/,
    ],
    ['has no nodes', '/nodes', {}, /must have 1 to 1000 members/],
    ['grants twice', '/grants/1', 'sql.query', /granted twice/],
    [
      'has a program without a source',
      '/nodes/enrich/do/nodes/guess',
      { kind: 'program' },
      /needs exactly one of source, file, and has none/,
    ],
    ['has __proto__ as an id', '/nodes/__proto__', { kind: 'wait', forMs: 1 }, /is no id of a node/],
  ]
  it.each(cases)('%s', (_, at, value, expected) => {
    expect(problemsWith(at, value).join('\n')).toMatch(expected)
  })

  it('is no object at all', () => {
    for (const document of [null, 1, 'plan', [], undefined, () => 1])
      expect(readPlan(document).problems?.count).toBeGreaterThan(0)
  })

  it('has a million nodes', () => {
    const nodes = Object.fromEntries(
      Array.from({ length: 20_000 }, (_, i) => [`n${i}`, { kind: 'wait', forMs: 1 }]),
    )
    expect(readPlan({ ...PRICES, nodes }).problems?.count).toBe(1)
  })

  it('is small as a graph and exponential as a tree', () => {
    let value: unknown = 'x'
    for (let i = 0; i < 60; i += 1) value = [value, value]
    expect(readPlan({ ...PRICES, output: value }).problems?.found[0]?.problem).toContain(
      'more than 200000 values',
    )
  })

  it('tells a hundred problems and counts the others', () => {
    const nodes = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`n${i}`, { kind: 'nope' }]))
    const { problems } = readPlan({ ...PRICES, nodes })
    expect(problems?.count).toBe(500)
    expect(problems?.found.length).toBe(100)
  })

  it('is any JSON value that is no plan', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(readPlan(value).problems?.count).toBeGreaterThan(0)
      }),
      { numRuns: 200 },
    )
  })

  it('is broken in any one place by any value', () => {
    const paths: (string | number)[][] = []
    const collect = (value: unknown, path: (string | number)[]): void => {
      if (path.length > 0) paths.push(path)
      if (typeof value === 'object' && value !== null)
        for (const [key, member] of Object.entries(value)) collect(member, [...path, key])
    }
    collect(PRICES, [])
    fc.assert(
      fc.property(fc.constantFrom(...paths), fc.jsonValue(), (path, value) => {
        const plan = structuredClone(PRICES) as unknown as Record<string, unknown>
        let at: Record<string | number, unknown> = plan
        for (const key of path.slice(0, -1)) at = at[key] as Record<string | number, unknown>
        at[path.at(-1) as string] = value
        const read = readPlan(plan)
        // Never a throw; and what is accepted is what was given.
        if (read.plan !== undefined)
          expect(JSON.parse(JSON.stringify(read.plan.plan))).toEqual(JSON.parse(JSON.stringify(plan)))
      }),
      { numRuns: 300 },
    )
  })
})

describe('what stands in for a node', () => {
  const call = (more: object): object => ({ kind: 'call', capability: 'a.b', ...more })
  const planWith = (nodes: object): Plan =>
    ({ format: 'plan/1', name: 'p', version: '1', grants: ['a.b'], nodes }) as Plan

  it('may come after what it stands in for, and what comes after that after both', () => {
    const nodes = {
      a: call({ fallback: [{ node: 'b' }] }),
      b: call({ after: ['a'], fallback: [{ node: 'c' }] }),
      c: call({}),
      d: call({ after: ['a', 'b', 'c'] }),
    }
    expect(() => definePlan(planWith(nodes))).not.toThrow()
  })

  it.each([
    [
      'itself, after the first',
      {
        a: call({ fallback: [{ node: 'b' }] }),
        b: call({ fallback: [{ node: 'c' }] }),
        c: call({ after: ['a'] }),
      },
    ],
    [
      'by what comes after that',
      { a: call({ fallback: [{ node: 'b' }] }), b: call({ after: ['m'] }), m: call({ after: ['a'] }) },
    ],
  ])('is refused where it would wait for itself: %s', (_, nodes) => {
    expect(() => definePlan(planWith(nodes))).toThrow(/waits for itself/)
  })
})
