/** Keys of the command line: made, used to sign and to check, and kept to themselves. */
import { chmodSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { cli, type Ended, type Folder, keptTools, makeFolder } from './cli.testkit.ts'
import { flat } from './kept.testkit.ts'

const PLAN = `format: plan/1
name: hello
version: "1"
grants: [shop.price]
nodes:
  hi: { kind: program, source: "return (await shop.price({ sku: input })).price", input: { $from: input }, grants: [shop.price] }
  ask: { kind: approval, question: "Well?", show: { $from: hi } }
output: { $from: hi }
`
const RUN = ['r', '--store', 'runs']
const TOOLS = ['--tools', 'tools.mjs']
const SIGN = ['--sign-key', 'host.key']

let folder: Folder
beforeEach(() => {
  folder = makeFolder({ 'hello.yaml': PLAN, 'tools.mjs': keptTools('sources') })
})
afterEach(() => folder.remove())

const caisson = (...args: readonly string[]): Promise<Ended> => cli(args, { cwd: folder.path })
const read = (name: string): string => readFileSync(join(folder.path, name), 'utf8')
const verify = (...more: readonly string[]): Promise<Ended> => caisson('verify', ...RUN, ...TOOLS, ...more)

/** What only the private key has, in any way that it could be shown. */
function secretsOf(pem: string): readonly string[] {
  const base64 = pem.split('\n')[1] ?? ''
  const seed = Buffer.from(base64, 'base64').subarray(-32)
  return [base64, seed.toString('hex'), seed.toString('base64')]
}

describe('caisson keys new', () => {
  it('makes a pair: the private key for the owner alone, and shown nowhere', async () => {
    const { code, stdout, stderr } = await caisson('keys', 'new', 'host.key')
    expect(code).toBe(0)
    if (process.platform !== 'win32') expect(statSync(join(folder.path, 'host.key')).mode & 0o777).toBe(0o600)
    expect(read('host.key.pub')).toContain('BEGIN PUBLIC KEY')
    expect(stdout).toMatch(/public key {3}host\.key\.pub {2}[0-9a-f]{64} /)
    for (const secret of secretsOf(read('host.key')))
      expect(stdout + stderr + read('host.key.pub')).not.toContain(secret)
    const { json } = await caisson('keys', 'new', 'other.key', '--json')
    expect(json()).toEqual({
      status: 'done',
      privateFile: 'other.key',
      publicFile: 'other.key.pub',
      publicKey: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
    expect(read('other.key')).not.toBe(read('host.key'))
  })

  it('overwrites nothing, and makes a pair whole or not at all', async () => {
    await caisson('keys', 'new', 'host.key')
    const before = read('host.key')
    const again = await caisson('keys', 'new', 'host.key')
    expect(again).toMatchObject({ code: 2, stdout: '' })
    expect(again.stderr).toContain('not overwritten')
    expect(read('host.key')).toBe(before)
    writeFileSync(join(folder.path, 'half.key.pub'), 'of somebody')
    expect((await caisson('keys', 'new', 'half.key')).code).toBe(2)
    expect(() => statSync(join(folder.path, 'half.key'))).toThrow(/ENOENT/)
    expect(read('half.key.pub')).toBe('of somebody')
    expect((await caisson('keys', 'new', 'none/host.key')).code).toBe(2)
  })
})

describe('--sign-key', () => {
  async function play(...sign: readonly string[]): Promise<void> {
    const propose = [
      'plan',
      'propose',
      'hello.yaml',
      '--store',
      'runs',
      '--run',
      'r',
      '--input',
      '"A-1"',
      ...TOOLS,
    ]
    const proposed = await caisson(...propose, '--approve', ...sign)
    if (sign.length > 0) expect(flat(proposed.stdout)).toContain('--sign-key host.key')
    expect((await caisson('plan', 'start', ...RUN, ...TOOLS, ...sign)).code).toBe(6)
    const shown = (await caisson('show', ...RUN, '--json')).json() as unknown as {
      requests: { digest: string }[]
    }
    await caisson('plan', 'approve', ...RUN, '--request', shown.requests[0]?.digest ?? '', ...sign)
    expect((await caisson('resume', ...RUN, ...TOOLS, ...sign)).code).toBe(0)
  }

  it('signs all that commands write of a run, and its receipts, for whoever has the public key', async () => {
    await caisson('keys', 'new', 'host.key')
    await caisson('keys', 'new', 'other.key')
    await play(...SIGN)
    renameSync(join(folder.path, 'host.key'), join(folder.path, 'gone'))
    const checked = await verify('--signer', 'host.key.pub')
    expect(checked).toMatchObject({ code: 0 })
    expect((await verify('--signer', 'other.key.pub')).code).toBe(7)

    renameSync(join(folder.path, 'gone'), join(folder.path, 'host.key'))
    const { stdout } = await caisson('receipts', ...RUN, ...SIGN)
    const lines = stdout.trim().split('\n')
    expect(lines).toHaveLength(2)
    const [first] = lines.map(
      (line) => JSON.parse(line) as { receipt: { node: string; state?: string }; signedBy: string },
    )
    expect(first?.receipt).toMatchObject({ node: 'hi', state: expect.stringMatching(/^sha256:/) })
    writeFileSync(join(folder.path, 'r.receipts'), stdout)
    expect((await verify('--signer', first?.signedBy ?? '', '--receipts', 'r.receipts')).code).toBe(0)
    writeFileSync(join(folder.path, 'r.receipts'), stdout.replace('"fuel":', '"fuel":1'))
    const forged = await verify('--receipts', 'r.receipts')
    expect(forged.code).toBe(7)
    expect(flat(forged.stdout)).toContain('receipt')
    writeFileSync(join(folder.path, 'r.receipts'), '{ "receipt": 1 }\nno')
    expect((await verify('--receipts', 'r.receipts')).stderr).toContain('line 2 is no receipt')
  })

  it('is missed where one command was without it', async () => {
    await caisson('keys', 'new', 'host.key')
    await play()
    expect((await verify('--signer', 'host.key.pub')).code).toBe(7)
    expect((await verify()).code).toBe(0)
  })

  it.runIf(process.platform !== 'win32')('is refused where others may read it', async () => {
    await caisson('keys', 'new', 'host.key')
    for (const mode of [0o640, 0o604, 0o622]) {
      chmodSync(join(folder.path, 'host.key'), mode)
      const { code, stdout, stderr } = await caisson('receipts', ...RUN, ...SIGN)
      expect({ code, stdout }).toEqual({ code: 7, stdout: '' })
      expect(flat(stderr)).toContain('chmod 600 host.key')
    }
  })

  it('is refused where it is none, and nothing of the file is shown', async () => {
    await caisson('keys', 'new', 'host.key')
    writeFileSync(join(folder.path, 'bad.key'), 'hunter2 hunter2', { mode: 0o600 })
    const { code, stdout, stderr } = await caisson('receipts', ...RUN, '--sign-key', 'bad.key', '--json')
    expect(code).toBe(7)
    expect(stdout + stderr).not.toContain('hunter2')
    expect((await caisson('receipts', ...RUN, '--sign-key', 'none.key')).code).toBe(2)
  })

  it('is refused in a directory that the program may read', async () => {
    mkdirSync(join(folder.path, 'open'))
    await caisson('keys', 'new', 'open/host.key')
    const given = ['hello.yaml', '--store', 'runs', '--sign-key', 'open/host.key', ...TOOLS]
    const { code, stderr } = await caisson('plan', 'propose', ...given, '--allow-read', 'open')
    expect(code).toBe(2)
    expect(flat(stderr)).toContain('which the program may read')
  })
})
