/** docs/plans.md: its example is a plan, its tables are those of the code. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { CodeReader } from '../../src/cli/plan/code-reader.ts'
import { REGISTERED_KINDS } from '../../src/graph/plan/node-kinds.ts'
import { parsePlan } from '../../src/graph/plan/parse-plan.ts'
import { codeOf } from '../../src/graph/plan/plan-code.ts'
import { planSvg } from '../../src/graph/render/plan-svg.ts'
import { NODE_STATES, RUN_STATES } from '../../src/graph/run/transitions.ts'
import { ROOT, theSnippet } from './documented-pages.ts'
import { tableRows } from './markdown-table.ts'
import {
  BUDGET_MEMBERS,
  CLASSES,
  COMMON,
  GRANT_MEMBERS,
  KIND_ROWS,
  LAST_NODE_STATES,
  LAST_RUN_STATES,
  NODE_ROWS,
  RUN_ROWS,
  tableText,
} from './plan-tables.ts'

const page = readFileSync(join(ROOT, 'docs/plans.md'), 'utf8')
const names = (cells: readonly (string | undefined)[]): readonly string[] =>
  cells.flatMap((cell) => [...(cell ?? '').matchAll(/`([\w-]+)`/g)].map(([, name = '']) => name))

describe('docs/plans.md', () => {
  it('has an example that is a plan, of all kinds of nodes, whose code parses', async () => {
    const { plan } = await parsePlan(theSnippet('yaml', 'plan').code)
    const kinds = new Set(JSON.stringify(plan).match(/"kind":"\w+"/g))
    // Kinds that need wasm have an example of their own, which runs.
    expect(kinds.size).toBe(KIND_ROWS.length - REGISTERED_KINDS.length)
    const reader = new CodeReader()
    const { programs, expressions } = codeOf(plan)
    for (const { program } of programs) expect(await reader.check(program)).toEqual([])
    for (const { source, names } of expressions)
      expect(await reader.checkExpression(source, names)).toEqual([])
    await reader.close()
    expect(programs.length * expressions.length).toBeGreaterThan(0)
  })

  it('shows the picture of its example: `caisson plan show --format svg` draws it anew', async () => {
    const { plan } = await parsePlan(theSnippet('yaml', 'plan').code)
    expect(readFileSync(join(ROOT, 'docs/plan.svg'), 'utf8')).toBe(`${planSvg(plan)}\n`)
  })

  it('tells every kind of node, with what it is and what it may say', () => {
    expect(tableRows(page, 'Nodes')).toEqual([...KIND_ROWS])
    const sentence = /Every node may have ([^.]*)\./.exec(page)?.[1]
    expect(names([sentence])).toEqual(COMMON)
  })

  it('tells every part of a right and of a budget, and every class of errors', () => {
    const rows = tableRows(page, 'Authority and budgets')
    expect(names(rows.map(([part]) => part))).toEqual([...GRANT_MEMBERS, ...BUDGET_MEMBERS])
    expect(names(tableRows(page, 'What may fail').map(([name]) => name))).toEqual(CLASSES)
  })

  it('shows the state machine of runs and of nodes as the code has it', () => {
    expect(page).toContain(tableText(['event', 'may follow while the run is', 'and then it is'], RUN_ROWS))
    expect(page).toContain(tableText(['event', 'may follow while the node is', 'and then it is'], NODE_ROWS))
    expect(names([/A run ends for good as ([^.]*)\./.exec(page)?.[1]])).toEqual(LAST_RUN_STATES)
    expect(names([/A node ends for good as ([^.]*)\./.exec(page)?.[1]])).toEqual(LAST_NODE_STATES)
    for (const state of [...RUN_STATES, ...NODE_STATES]) expect(page).toContain(`\`${state}\``)
  })
})
