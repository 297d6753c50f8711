/** The tools module of docs/embedding.md, given to the command line. */
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { cli, makeFolder } from '../cli/cli.testkit.ts'
import { ROOT, theSnippet } from './documented-pages.ts'

it('the documented tools module is called by a program', async () => {
  const { code } = theSnippet('ts', 'tools')
  // The folder is outside of the repository: packages are named by where they are.
  const module = code
    .replace("'caisson'", JSON.stringify(join(ROOT, 'src/entry/node.ts')))
    .replace("'zod'", JSON.stringify(import.meta.resolve('zod')))
  const folder = makeFolder({
    'tools.mjs': module,
    'p.js': "console.log('shown'); return (await prices.lookup({ sku: 'A-100' })).price",
  })
  onTestFinished(() => folder.remove())
  const ran = await cli(['run', 'p.js', '--tools', './tools.mjs'], { cwd: folder.path })
  expect(ran).toMatchObject({ code: 0, stdout: '7.5\n' })
  expect(ran.stderr).toContain('shown')
})
