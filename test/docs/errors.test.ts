/** docs/errors.md names exactly the codes, limits and exit codes that the code has. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ERROR_CODES } from '../../src/base/errors.ts'
import { EXIT_MEANINGS } from '../../src/cli/exit-code.ts'
import { ROOT } from './documented-pages.ts'
import { tableRows } from './markdown-table.ts'

const page = readFileSync(join(ROOT, 'docs/errors.md'), 'utf8')
const source = (file: string): string => readFileSync(join(ROOT, file), 'utf8')

/** Sources below a folder, without tests. */
function sourcesIn(folder: string): string {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !/\.(test|testkit|contract)\.ts$/.test(name))
    .map((name) => source(join(folder, name)))
    .join('\n')
}

const found = (text: string, pattern: RegExp): readonly string[] => [
  ...new Set([...text.matchAll(pattern)].map(([, name]) => name as string)),
]

const codes = tableRows(page, 'All codes')
const failures = tableRows(page, 'How a run ends as `failed`')
const limits = tableRows(page, 'How a run ends as `exhausted`')
const failureCodes = failures.flatMap(([cell = '']) => found(cell, /`(\w+)`/g))

describe('docs/errors.md', () => {
  it('has every code of the union, in its order, with its sentence', () => {
    expect(codes.map(([code, sentence]) => [code, sentence])).toEqual(
      Object.entries(ERROR_CODES).map(([code, sentence]) => [`\`${code}\``, sentence]),
    )
  })

  it('says of every code who sees it and what to do', () => {
    for (const [code, , who = '', advice = ''] of codes) {
      for (const place of who.split(', ')) expect(['host', 'guest', 'outcome'], code).toContain(place)
      expect(advice, code).toMatch(/\w.*\.$/)
    }
  })

  it('shows to guests what the gate refuses with, and as outcomes what ends a run', () => {
    const whoSees = new Map(codes.map(([code = '', , who = '']) => [code.replaceAll('`', ''), who]))
    const gate = sourcesIn('src/capability')
    const refused = found(gate, /\brefuse\(\s*'(\w+)'/g)
    expect(refused.length).toBeGreaterThan(10)
    for (const code of refused) expect(whoSees.get(code), code).toContain('guest')
    const fatal = found(gate, /\brefuseFatally\(\s*'(\w+)'/g)
    expect(fatal.length).toBeGreaterThan(0)
    for (const code of fatal) expect(whoSees.get(code), code).toBe('outcome')
    for (const code of failureCodes) {
      if (code in ERROR_CODES) expect(whoSees.get(code), code).toContain('outcome')
    }
  })

  it('lists every code with which the runtime itself fails a run', () => {
    const ends = [
      ...found(sourcesIn('src/machine'), /\bfailed\(\s*'(\w+)'/g),
      ...found(source('src/isolate/isolate.ts'), /name: '\w+',\s*code: '(\w+)'/g),
      ...found(sourcesIn('src/capability'), /\brefuseFatally\(\s*'(\w+)'/g),
    ]
    expect(ends).toContain('stalled')
    expect(ends).toContain('engine_trap')
    for (const code of ends) expect(failureCodes).toContain(code)
  })

  it('lists every limit by the name that outcomes use', () => {
    const union = /export type LimitName = (.*)/.exec(source('src/machine/limits.ts'))?.[1] ?? ''
    expect(limits.map(([name]) => name)).toEqual(found(union, /'(\w+)'/g).map((name) => `\`${name}\``))
  })

  it('lists every exit code of the command line', () => {
    const exits = tableRows(page, 'Exit codes of the command line')
    expect(exits).toEqual(Object.entries(EXIT_MEANINGS))
  })
})
