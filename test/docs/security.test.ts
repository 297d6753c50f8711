/** docs/security.md says what the code does: limits, bounds, the order of the gate, names of defences. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { DEFAULT_TIMEOUT_MS } from '../../src/capability/capability.ts'
import { DEFAULT_VALIDATED_NODES } from '../../src/capability/gate/gate-parts.ts'
import { MAX_SYNC_RECORDS } from '../../src/capability/gate/sync-record.ts'
import { DEFAULT_LIMITS, type Limits, parseLimits } from '../../src/machine/limits.ts'
import { DEFAULT_VALUE_LIMITS } from '../../src/values/limits.ts'
import { DEFENCES } from '../defences.ts'
import { ROOT } from './documented-pages.ts'
import { tableRows } from './markdown-table.ts'

const page = readFileSync(join(ROOT, 'docs/security.md'), 'utf8')
const numberIn = (cell = ''): number => Number(cell.replaceAll(',', ''))

/** Rows of limits have five cells, those of other bounds two. */
const rows = tableRows(page, 'Limits')
const limits = rows.filter((row) => row.length === 5)
const bounds = rows.filter((row) => row.length === 2)

describe('docs/security.md', () => {
  it('has the default of every limit', () => {
    expect(
      Object.fromEntries(limits.map(([name = '', value]) => [name.replaceAll('`', ''), numberIn(value)])),
    ).toEqual(DEFAULT_LIMITS)
  })

  it.each(
    limits.map(
      ([name = '', , from, to]) => [name.replaceAll('`', ''), numberIn(from), numberIn(to)] as const,
    ),
  )('has the range of %s', (name, from, to) => {
    const parse = (value: number): Limits => parseLimits({ [name]: value })
    expect(parse(from)).toHaveProperty(name, from)
    expect(parse(to)).toHaveProperty(name, to)
    expect(() => parse(from - 1)).toThrow(`Limit ${name} is`)
    expect(() => parse(to + 1)).toThrow(`Limit ${name} is`)
  })

  it('has the other bounds', () => {
    expect(bounds.map(([, value]) => numberIn(value))).toEqual([
      DEFAULT_VALUE_LIMITS.bytes,
      DEFAULT_VALUE_LIMITS.nodes,
      DEFAULT_VALUE_LIMITS.depth,
      DEFAULT_VALIDATED_NODES,
      DEFAULT_TIMEOUT_MS,
      MAX_SYNC_RECORDS,
    ])
  })

  it('tells the stages of the gate in the order in which the gate passes them', () => {
    const from = page.indexOf('\n## The gate\n')
    const list = page.slice(from, page.indexOf('\n## ', from + 1))
    const told = [...list.matchAll(/\(\.\.\/src\/capability\/gate\/([a-z-]+)\.ts\)/g)].map(
      ([, stage]) => stage,
    )
    expect(told).toEqual([
      ...['resolve', 'validate-input', 'authorise', 'reserve', 'check-stop', 'approve', 'record', 'invoke'],
      ...['check-result', 'redact'],
    ])
    const gate = readFileSync(join(ROOT, 'src/capability/gate.ts'), 'utf8')
    const admit = gate.slice(
      gate.indexOf('async function admit'),
      gate.indexOf('async function invokeInTurn'),
    )
    const calls = [
      'resolve(',
      'validateInput(',
      'authorise(',
      'reserve(',
      'checkStop(',
      'approve(',
      'recordIntent(',
    ]
    const positions = calls.map((call) =>
      admit.search(new RegExp(`(?<![A-Za-z.])${call.replace('(', '\\(')}`)),
    )
    expect(positions).not.toContain(-1)
    expect(positions).toEqual([...positions].sort((a, b) => a - b))
    const file = readFileSync(join(ROOT, 'src/capability/gate/conclude.ts'), 'utf8')
    const conclude = file.slice(file.indexOf('async function conclude'))
    expect(conclude.indexOf('outcomeOf(')).toBeLessThan(conclude.indexOf('recordResult('))
  })

  it('names defences that are on the list', () => {
    const table = tableRows(page, 'What is guaranteed')
    const named = table.flatMap(([, , cell = '']) =>
      [...cell.matchAll(/`([a-z-]+)`/g)].map(([, name]) => name),
    )
    expect(named.length).toBeGreaterThan(15)
    const known = new Set<string | undefined>(DEFENCES.map(({ name }) => name))
    expect(named.filter((name) => !known.has(name))).toEqual([])
  })
})
