/** What docs/embedding.md says of a guest's limits and of its recursion is what the code does. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runCommand } from '../../src/cli/commands/run.ts'
import { parseDuration } from '../../src/cli/units/parse-duration.ts'
import { parseSize } from '../../src/cli/units/parse-size.ts'
import { openRuntime } from '../../src/entry/node.ts'
import { DEFAULT_LIMITS } from '../../src/machine/limits.ts'
import type { Runtime } from '../../src/runtime/runtime.ts'
import { ROOT } from './documented-pages.ts'
import { tableRows } from './markdown-table.ts'

const page = readFileSync(join(ROOT, 'docs/embedding.md'), 'utf8')
const withoutTicks = (cell = ''): string => cell.replaceAll('`', '')

describe('the table of limits', () => {
  const rows = tableRows(page, 'Limits by default')

  it('has every limit with its default', () => {
    const amountOf = (name: string, text: string): number => {
      if (name.endsWith('Ms')) return parseDuration(name, text)
      return name.endsWith('Bytes') || name.startsWith('bytes')
        ? parseSize(name, text)
        : Number(text.replaceAll(',', ''))
    }
    const told = rows.map(([name, value = '']) => [withoutTicks(name), amountOf(withoutTicks(name), value)])
    expect(told).toEqual(Object.entries(DEFAULT_LIMITS))
  })

  it('has the flags of the command line that set one', () => {
    const told = rows.map(([, , flag]) => withoutTicks(flag)).filter((flag) => flag !== '')
    const limits = runCommand.groups.find(({ title }) => title === 'Limits')
    expect(told.sort()).toEqual(limits?.flags.map(({ name }) => `--${name}`).sort())
  })
})

describe('the table of recursion', () => {
  let runtime: Runtime
  beforeAll(async () => {
    runtime = await openRuntime()
  })
  afterAll(() => runtime.close())

  const programs: Readonly<Record<string, (depth: number) => string>> = {
    'a function or method': (n) => `const f = (n) => n === 0 ? 0 : 1 + f(n - 1); return f(${n})`,
    'an async function': (n) => `const f = async (n) => n === 0 ? 0 : 1 + await f(n - 1); return f(${n})`,
    'a callback of a builtin': (n) =>
      `const f = (n) => n === 0 ? 0 : [n].map((m) => f(m - 1))[0]; return f(${n})`,
    '`JSON.parse` of nested lists': (n) => `return JSON.parse('['.repeat(${n}) + ']'.repeat(${n})).length`,
    '`JSON.stringify` of nested lists': (n) =>
      `let list = []; for (let i = 1; i < ${n}; i++) list = [list]; return JSON.stringify(list).length`,
  }
  const rows = tableRows(page, 'Depth of recursion').filter((row) => row.length === 2)

  it('has each program once', () => {
    expect(rows.map(([name = '']) => name.split(':')[0])).toEqual(Object.keys(programs))
  })

  it.each(rows)('%s goes %s calls deep, and not much deeper', async (name = '', depth = '') => {
    const program = programs[name.split(':')[0] as string] as (depth: number) => string
    const most = Number(depth.replaceAll(',', ''))
    expect(await runtime.run(program(most))).toMatchObject({ status: 'completed' })
    const beyond = await runtime.run(program(Math.ceil(most * 1.1)))
    expect(beyond).toMatchObject({ status: 'exhausted', limit: 'stack' })
  })
})
