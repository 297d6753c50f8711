/** A component with QuickJS in it, opened as embedders have it: by the package, in a process without flags of the engine. */
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { readSample } from '../../scripts/samples/read-sample.ts'

const ROOT = join(import.meta.dirname, '../..')

/** Its largest module has arithmetic in constants, which Node 20 refuses where nobody lowers it. */
const PROGRAM = `
import { readFile } from 'node:fs/promises'
import { openRuntime } from 'caisson'
const runtime = await openRuntime()
const component = await runtime.openComponent(await readFile(process.argv[1]), {
  interfaces: { $root: { hostCall: (name, json) => json.toUpperCase() } },
  wasi: {},
  limits: { fuel: 2 ** 50 },
})
const outcome = await component.call('run', ['milk'])
console.log(JSON.stringify([outcome.status, outcome.value]))
await runtime.close()
`

it('opens and answers', { timeout: 60_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'caisson-javascript-'))
  try {
    const file = join(folder, 'tool.wasm')
    writeFileSync(file, await readSample('tool-js'))
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--input-type=module', '--eval', PROGRAM, file],
      { cwd: ROOT, env: { ...process.env, NODE_OPTIONS: '' } },
    )
    expect(JSON.parse(stdout)).toEqual(['completed', { tag: 'ok', val: '{"LINE":"MILK"}' }])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
