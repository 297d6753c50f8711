/** What `--allow-*` open for runs of plans: shown, approved, and no wider afterwards. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { cli, type Ended, type Folder, makeFolder } from './cli.testkit.ts'
import { flat } from './kept.testkit.ts'

const READS = `format: plan/1
name: reads
version: "1"
grants: [files.readText]
nodes:
  ask: { kind: approval, question: "Well?" }
  read: { kind: call, capability: files.readText, input: { path: { $from: input } }, after: [ask] }
output: { $from: read }
`
const FETCHES = READS.replaceAll('files.readText', 'net.fetch')
const STORE = ['--store', 'runs', '--run', 'r']
const DONE = ['r', '--store', 'runs']

let folder: Folder
beforeEach(() => {
  folder = makeFolder({ 'reads.yaml': READS, 'fetches.yaml': FETCHES })
  for (const name of ['in', 'other', 'plans']) mkdirSync(join(folder.path, name))
  for (const name of ['in', 'other']) writeFileSync(join(folder.path, name, 'a.txt'), `of ${name}`)
})
afterEach(() => folder.remove())

const caisson = (...args: readonly string[]): Promise<Ended> => cli(args, { cwd: folder.path })
const jsonOf = ({ json }: Ended) => json() as unknown as Record<string, unknown>
const propose = (path: string, ...rights: readonly string[]): Promise<Ended> =>
  caisson('plan', 'propose', 'reads.yaml', ...STORE, '--input', JSON.stringify(path), ...rights)

async function approve(): Promise<void> {
  const { digest } = jsonOf(await caisson('show', ...DONE, '--json'))
  expect((await caisson('plan', 'approve', ...DONE, '--digest', String(digest))).code).toBe(0)
}

async function decide(): Promise<void> {
  const shown = jsonOf(await caisson('show', ...DONE, '--json'))
  const [request] = shown.requests as { digest: string }[]
  await caisson('plan', 'approve', ...DONE, '--request', request?.digest ?? '')
}

describe('directories and hosts of a plan', () => {
  it('are shown with what is proposed, and its digest stands for them', async () => {
    const narrow = await propose('a.txt', '--allow-read', 'in')
    expect(flat(narrow.stdout)).toMatch(/may reach read \S+in /)
    const { digest, scope } = jsonOf(await caisson('show', ...DONE, '--json'))
    expect(scope).toEqual([expect.stringMatching(/^read .*in$/)])
    expect(digest).toMatch(/^sha256:/)
    const shown = await caisson('show', ...DONE)
    expect(flat(shown.stdout)).toMatch(/may reach read \S+in /)
  })

  it('may be the same or fewer when it is started and resumed, and more is refused by name', async () => {
    await propose('in/a.txt', '--allow-read', 'in', '--allow-read', 'plans')
    await approve()
    const wider = ['--allow-read', 'in', '--allow-read', 'other']
    const refused = await caisson('plan', 'start', ...DONE, ...wider)
    expect(refused).toMatchObject({ code: 5, stdout: '' })
    expect(flat(refused.stderr)).toMatch(/reach more than was approved: read \S+other\./)
    expect(flat(refused.stderr)).toMatch(/Approved were: read \S+in, read \S+plans\./)
    expect((await caisson('plan', 'start', ...DONE, '--allow-write', 'in')).code).toBe(5)
    expect((await caisson('plan', 'start', ...DONE, '--allow-read', './other/../in')).code).toBe(6)
    await decide()
    expect((await caisson('resume', ...DONE, ...wider)).code).toBe(5)
    expect((await caisson('cancel', ...DONE, '--reason', 'no', ...wider)).code).toBe(5)
    // One of two stands under its name still.
    expect(await caisson('resume', ...DONE, '--allow-read', 'in')).toMatchObject({
      code: 0,
      stdout: 'of in\n',
    })
  })

  it('are hosts too: those that were approved, and no others', async () => {
    const net = (...hosts: readonly string[]): readonly string[] =>
      hosts.flatMap((host) => ['--allow-net', host])
    const proposed = await caisson(
      'plan',
      'propose',
      'fetches.yaml',
      ...STORE,
      '--input',
      '1',
      ...net('*.example.com'),
    )
    expect(flat(proposed.stdout)).toContain('may reach net *.example.com')
    await approve()
    const refused = await caisson('plan', 'start', ...DONE, ...net('api.example.org'))
    expect(flat(refused.stderr)).toContain('net api.example.org')
    expect(refused.code).toBe(5)
    expect((await caisson('plan', 'start', ...DONE, ...net('*.example.com'))).code).toBe(6)
  })

  it('are approved at once with what is started at once', async () => {
    const started = await caisson(
      'plan',
      'start',
      'reads.yaml',
      '--approve',
      ...STORE,
      '--input',
      '"a.txt"',
      '--allow-read',
      'in',
    )
    expect(started.code).toBe(6)
    await decide()
    expect(await caisson('resume', ...DONE, '--allow-read', 'in')).toMatchObject({
      code: 0,
      stdout: 'of in\n',
    })
  })
})
