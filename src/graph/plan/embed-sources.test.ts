import { describe, expect, it } from 'vitest'
import { definePlan } from './define-plan.ts'
import { embedSources } from './embed-sources.ts'
import { PLAN_LIMITS } from './plain-tree.ts'
import type { Plan } from './plan.ts'
import { codeOf } from './plan-code.ts'

const INNER = { nodes: { deep: { kind: 'program', file: 'deep.ts' } } } as const
const PLAN = {
  format: 'plan/1',
  name: 'files',
  version: '1',
  grants: ['a.b'],
  nodes: {
    top: {
      kind: 'program',
      file: 'top.js',
      modules: { './own.js': 'export default 1' },
      when: { $eval: 'a' },
      fallback: [{ value: { $eval: 'b' } }],
    },
    undone: {
      kind: 'call',
      capability: 'a.b',
      compensate: { kind: 'program', file: 'undo.js', input: { $eval: 'c' } },
    },
    each: { kind: 'each', over: [], most: 1, do: INNER },
    loop: { kind: 'loop', most: 1, until: { $eval: 'd' }, do: { ...INNER, output: { $eval: 'e' } } },
    plan: { kind: 'plan', plan: { format: 'plan/1', name: 'inner', version: '1', ...INNER } },
    inline: { kind: 'program', source: 'return 1' },
  },
} as const satisfies Plan

describe('files of a plan', () => {
  it('become texts wherever they stand', async () => {
    const asked: string[] = []
    const plan = await embedSources(PLAN, ({ file }, at) => {
      asked.push(`${at} ${file}`)
      return { source: `// ${file}`, language: 'js', modules: { './lib.js': 'x', './own.js': 'other' } }
    })
    expect(asked).toEqual([
      '/nodes/top top.js',
      '/nodes/undone/compensate undo.js',
      '/nodes/each/do/nodes/deep deep.ts',
      '/nodes/loop/do/nodes/deep deep.ts',
      '/nodes/plan/plan/nodes/deep deep.ts',
    ])
    const { programs } = codeOf(definePlan(plan).plan)
    expect(programs.map(({ at, program }) => `${at} ${program.source}`)).toEqual([
      '/nodes/top // top.js',
      '/nodes/undone/compensate // undo.js',
      '/nodes/inline return 1',
      '/nodes/each/do/nodes/deep // deep.ts',
      '/nodes/loop/do/nodes/deep // deep.ts',
      '/nodes/plan/plan/nodes/deep // deep.ts',
    ])
    expect(programs.some(({ program }) => program.file !== undefined)).toBe(false)
    // What the plan says itself stays.
    expect(programs[0]?.program.modules).toEqual({ './lib.js': 'x', './own.js': 'export default 1' })
  })

  it('leave a plan without files as it is', async () => {
    const plan = { ...PLAN, nodes: { inline: PLAN.nodes.inline } }
    const embedded = await embedSources(plan, () => expect.unreachable())
    expect(definePlan(embedded).digest).toBe(definePlan(plan).digest)
  })

  it('change the digest when they change', async () => {
    const digests = await Promise.all(
      ['1', '2'].map(async (source) => definePlan(await embedSources(PLAN, () => ({ source }))).digest),
    )
    expect(new Set(digests).size).toBe(2)
  })
})

describe('files that are too large together', () => {
  const node = (id: number): [string, object] => [`n${id}`, { kind: 'program', file: 'same.js' }]
  const many = (count: number): Plan => {
    const nodes = Object.fromEntries(Array.from({ length: count }, (_, id) => node(id)))
    return { format: 'plan/1', name: 'many', version: '1', nodes } as Plan
  }
  const half = 'x'.repeat(PLAN_LIMITS.bytes / 4)
  const read = { source: half.slice('./m.js'.length), modules: { './m.js': half } }

  it('are refused at the first that is too much, and none after it is read', async () => {
    let reads = 0
    const refused = embedSources(many(1_000), () => {
      reads += 1
      return read
    })
    await expect(refused).rejects.toMatchObject({
      code: 'invalid_plan',
      details: {
        problems: [{ at: '/nodes/n2/file', problem: expect.stringContaining('larger than 16777216 bytes') }],
        count: 1,
      },
    })
    expect(reads).toBe(3)
    expect(Object.keys((await embedSources(many(2), () => read)).nodes)).toHaveLength(2)
  })
})

describe('the code of a plan', () => {
  it('has every expression, with its place', () => {
    expect(codeOf(PLAN).expressions.map(({ at, source }) => `${at} ${source}`)).toEqual([
      '/nodes/top/when/$eval a',
      '/nodes/top/fallback/0/value/$eval b',
      '/nodes/undone/compensate/input/$eval c',
      '/nodes/loop/until/$eval d',
      '/nodes/loop/do/output/$eval e',
    ])
  })
})
