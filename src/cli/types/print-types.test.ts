import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { shapeOfWit } from '../../component/wit.testkit.ts'
import type { CliIo } from '../cli-io.ts'
import { EXIT } from '../exit-code.ts'
import { runCli } from '../run-cli.ts'

const TOOLS = `
const schema = (properties) => ({ type: 'object', properties, required: Object.keys(properties) })
const tool = (name, input, output) => ({
  name, description: 'A tool', effect: 'read', inputJsonSchema: input, outputJsonSchema: output, invoke: () => null,
})
export default [
  tool('prices.lookup', schema({ sku: { type: 'string' } }), schema({ price: { type: 'number' } })),
  tool('odd.any', {}, {}),
]
`

let cwd = ''
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'caisson-types-'))
  await writeFile(join(cwd, 'tools.mjs'), TOOLS)
})
afterEach(() => rm(cwd, { recursive: true, force: true }))

async function types(...args: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const written = { stdout: '', stderr: '' }
  const output = (to: 'stdout' | 'stderr'): CliIo['stdout'] => ({
    write: (text) => {
      written[to] += text
    },
    isTerminal: false,
    columns: 80,
    colours: false,
  })
  const io: CliIo = {
    stdout: output('stdout'),
    stderr: output('stderr'),
    stdin: () => new Blob([]).stream() as unknown as AsyncIterable<Uint8Array>,
    cwd,
    onInterrupt: () => () => {},
  }
  return { code: await runCli(['types', ...args], io), ...written }
}

describe('caisson types --wit', () => {
  it('prints what is granted, and nothing else, as a package that parses', async () => {
    const { code, stdout } = await types('--wit', '--tools', './tools.mjs', '--grant', 'prices.lookup')
    expect(code).toBe(EXIT.done)
    const { imports } = await shapeOfWit(stdout)
    expect(imports).toMatchObject([{ interface: 'caisson:capabilities/prices', name: 'lookup' }])
    const json = await types('--wit', '--tools', './tools.mjs', '--grant', 'prices.lookup', '--json')
    expect(JSON.parse(json.stdout)).toEqual({ status: 'completed', wit: stdout })
  })

  it('refuses by name what WIT has no words for', async () => {
    const { code, stdout, stderr } = await types('--wit', '--tools', './tools.mjs')
    expect(code).toBe(EXIT.refusedInput)
    expect(stderr).toContain('"odd.any"')
    expect(stdout).toBe('')
  })

  it('says what is missing: a form, and something to print', async () => {
    expect(await types()).toMatchObject({ code: EXIT.usage, stderr: expect.stringContaining('--wit') })
    expect((await types('--wit', '--dts')).code).toBe(EXIT.usage)
    expect(await types('--wit')).toMatchObject({
      code: EXIT.usage,
      stderr: expect.stringContaining('Nothing is granted'),
    })
  })
})
