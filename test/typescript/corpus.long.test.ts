import { readFileSync } from 'node:fs'
import { describe, expect, it, vi } from 'vitest'
import { compareFiles, filesBelow } from './corpus.testkit.ts'

vi.setConfig({ testTimeout: 120_000 })

describe('real files', () => {
  it.each([
    // `await using` is refused by name.
    [['src', 'host-bindings'], 400, / refused$/],
    [['guest', 'scripts', 'bench', 'examples', 'test'], 250, / refused$/],
    [
      ['node_modules/@noble/hashes/src', 'node_modules/@jridgewell', 'node_modules/tldts-core/src'],
      30,
      /factory\.ts/,
    ],
    // Enums come out in another shape, which constructs.test.ts runs; namespaces are refused by name.
    [['node_modules/zod/src'], 300, / refused$| another program$/],
  ] as const)('below %j become the same programs as by oxc', (folders, floor, known) => {
    const { same, others } = compareFiles(folders.flatMap(filesBelow))
    const unknown = others.filter((one) => !known.test(one))
    expect(unknown).toEqual([])
    expect(same).toBeGreaterThan(floor)
    for (const other of others.filter((one) => one.endsWith(' another program'))) {
      expect(readFileSync(other.split(':')[0] ?? '', 'utf8')).toMatch(/\benum\b/)
    }
  })
})
