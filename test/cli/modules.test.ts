/** `caisson run` of programs that import: files beside them, and packages. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cli, type Ended, type Folder, makeFolder } from './cli.testkit.ts'

let folder: Folder
beforeAll(() => {
  folder = makeFolder({ 'package.json': '{}' })
  for (const name of [
    'app',
    'app/lib',
    'node_modules/sums',
    'node_modules/modern',
    'node_modules/needs-fs',
  ]) {
    mkdirSync(join(folder.path, name), { recursive: true })
  }
  const files = {
    'secret.js': 'export default "secret"',
    'app/main.js':
      "import { twice } from './lib/twice.js'\nimport data from './data.json'\nexport default twice(data.n)",
    'app/lib/twice.js': 'export const twice = (n) => n * 2',
    'app/data.json': '{ "n": 21 }',
    'app/later.js': "const { twice } = await import('./lib/twice.js')\nexport default twice(4)",
    'app/up.js': "import s from '../secret.js'\nexport default s",
    'app/link.js': "import s from './linked.js'\nexport default s",
    'app/ending.js': "import { twice } from './lib/twice'\nexport default twice(1)",
    'app/bare.js': "import { twice } from 'lib/twice.js'\nexport default twice(1)",
    'app/lib/typed.ts': "import '../data'\nexport const typed: number = 1",
    'app/deep.js': "import './lib/typed.js'",
    'app/deeper.js': "import './lib/typed.ts'",
    'app/nope.js': "import { twice, thrice } from './lib/twice.js'\nexport default thrice(1)",
    'app/lib/throws.js': 'export const f = () => {\n  null.inTheModule\n}',
    'app/throws.js': "import { f } from './lib/throws.js'\n// not this line\nf()",
    'app/hidden.js': "export default await import('./.env.js').catch((e) => e.code)",
    'app/.env.js': 'export default 1',
    'app/packages.js':
      "import sums, { add } from 'sums'\nimport { one as single } from 'modern'\nexport default [add(1, 2), typeof sums.add, single]",
    'app/fs.js': "import { readFileSync } from 'fs'\nexport default readFileSync('x')",
    'app/needs-fs.js': "import 'needs-fs'\nexport default 1",
    'app/missing.js': "import 'not-installed'\nexport default 1",
    'node_modules/sums/package.json': '{ "name": "sums", "main": "index.js" }',
    'node_modules/sums/index.js': 'exports.add = (a, b) => a + b',
    'node_modules/modern/package.json': '{ "name": "modern", "type": "module", "exports": "./index.js" }',
    'node_modules/modern/index.js': 'export const one = 1',
    'node_modules/needs-fs/package.json': '{ "name": "needs-fs", "main": "index.js" }',
    'node_modules/needs-fs/index.js': "module.exports = require('fs')",
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder.path, name), text)
  symlinkSync('../secret.js', join(folder.path, 'app/linked.js'))
})
afterAll(() => folder.remove())

const run = (file: string, ...flags: readonly string[]): Promise<Ended> =>
  cli(['run', `app/${file}`, ...flags], { cwd: folder.path })

describe('a program of several files', () => {
  it('gets what stands beside it', async () => {
    expect(await run('main.js')).toMatchObject({ code: 0, stdout: '42\n', stderr: '' })
    expect(await run('later.js')).toMatchObject({ code: 0, stdout: '8\n' })
  })

  it.each([
    ['up.js', 'leads out of the root'],
    ['link.js', 'linked.js'],
    ['ending.js', 'write "./lib/twice.js"'],
    ['bare.js', 'there is no package "lib/twice.js"; write "./lib/twice.js"'],
    ['deep.js', 'write "./lib/typed.ts"'],
    ['deeper.js', 'write "../data.json"'],
    ['nope.js', "Could not find export 'thrice' in module './lib/twice.js'"],
    ['fs.js', 'grant files.read'],
    ['missing.js', 'npm install not-installed'],
    ['needs-fs.js', 'the package "needs-fs" needs Node'],
  ])('gets nothing from elsewhere: %s', async (file, message) => {
    const { code, stdout, stderr } = await run(file)
    expect(code).not.toBe(0)
    expect(stdout).toBe('')
    expect(stderr).toContain(message)
    expect(stderr).not.toContain(folder.path)
  })

  it('shows the line of the file that an error is in', async () => {
    const { stderr } = await run('throws.js')
    expect(stderr).toContain('--> lib/throws.js:2:7\n  2 |   null.inTheModule\n')
    expect(stderr).not.toContain('not this line')
    expect((await run('nope.js')).stderr).toContain('--> nope.js:1:17\n  1 | import { twice, thrice }')
  })

  it('gets nothing that is hidden', async () => {
    expect(await run('hidden.js')).toMatchObject({ stdout: 'denied\n' })
  })

  it('goes on where the folder is named that it imports from', async () => {
    const parked = await run('later.js', '--stop-at-call', '1', '--checkpoint', 'later.ckpt')
    expect(parked.code).not.toBe(0)
    const resume = (...flags: readonly string[]): Promise<Ended> =>
      cli(['resume', 'later.ckpt', ...flags], { cwd: folder.path })
    expect((await resume()).stderr).toContain('--modules DIR')
    expect(await resume('--modules', 'app')).toMatchObject({ code: 0, stdout: '8\n' })
  })

  it('gets packages of its project, bundled', async () => {
    const { stdout, stderr } = await run('packages.js', '--json')
    expect(stderr).toBe('')
    expect(JSON.parse(stdout)).toMatchObject({ status: 'completed', value: [3, 'function', 1] })
  })
})
