import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { theSnippet } from './documented-pages.ts'
import { expectedOutput } from './expected-output.ts'
import { printedBy } from './store-snippet.ts'

it('the snippet about SQLite prints what it says', async () => {
  const { code } = theSnippet('ts', 'sqlite')
  const folder = mkdtempSync(join(tmpdir(), 'caisson-snippet-'))
  try {
    const snippet = code.replace("'runs.db'", JSON.stringify(join(folder, 'runs.db')))
    const printed = await printedBy('sqlite', snippet, 'host-bindings/store/sqlite/sqlite-run-store.node.ts')
    expect(printed).toEqual(expectedOutput(code))
    expect(printed).not.toEqual([])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
