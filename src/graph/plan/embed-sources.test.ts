import { describe, expect, it } from 'vitest'
import { definePlan } from './define-plan.ts'
import { embedSources } from './embed-sources.ts'
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
