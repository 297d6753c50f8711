/** Rights of programs that go on: no wider than they were, unless somebody says so. */
import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Ended } from './cli.testkit.ts'
import { flat, type KeptFolder, openKeptFolder } from './kept.testkit.ts'

let kept: KeptFolder
beforeEach(() => {
  kept = openKeptFolder()
  for (const name of ['in', 'out', 'other']) mkdirSync(join(kept.path, name))
  for (const name of ['in', 'out', 'other']) writeFileSync(join(kept.path, name, 'a.txt'), `of ${name}`)
  writeFileSync(join(kept.path, 'one.js'), 'return await files.readText({ path: "a.txt" })')
  writeFileSync(join(kept.path, 'two.js'), 'return await files.readText({ path: "in/a.txt" })')
})
afterEach(() => kept.remove())

describe('a program that was parked with directories', () => {
  const park = (program: string, ...rights: readonly string[]): Promise<Ended> =>
    kept.caisson(['run', program, ...rights, '--stop-at-call', '1', '--checkpoint', 'f'])
  const resume = (...rights: readonly string[]): Promise<Ended> => kept.caisson(['resume', 'f', ...rights])

  it('is refused another one by name, and takes it from who says that it is meant', async () => {
    expect((await park('one.js', '--allow-read', 'in')).code).toBe(6)
    const refused = await resume('--allow-read', 'other')
    expect(refused).toMatchObject({ code: 7, stdout: '' })
    expect(flat(refused.stderr)).toMatch(/Not there then: read \S+other\./)
    expect(flat(refused.stderr)).toMatch(/next: It had: read \S+in\. .*--change-rights/)
    const wider = await resume('--allow-read', 'in', '--allow-read', 'other')
    expect(wider.code).toBe(7)
    expect(await resume('--allow-read', 'other', '--change-rights')).toMatchObject({
      code: 0,
      stdout: 'of other\n',
    })
  })

  it('goes on with the same one, however it is written, and where it was moved when somebody says so', async () => {
    await park('one.js', '--allow-read', 'in')
    renameSync(join(kept.path, 'in'), join(kept.path, 'moved'))
    expect((await resume('--allow-read', 'moved')).code).toBe(7)
    renameSync(join(kept.path, 'moved'), join(kept.path, 'in'))
    expect(await resume('--allow-read', './out/../in')).toMatchObject({ code: 0, stdout: 'of in\n' })
  })

  it('goes on with fewer, and finds them under their names', async () => {
    await park('two.js', '--allow-read', 'in', '--allow-read', 'out')
    expect(await resume('--allow-read', 'in')).toMatchObject({ code: 0, stdout: 'of in\n' })
  })

  it('is refused to write where it could only read', async () => {
    await park('two.js', '--allow-read', 'in', '--allow-write', 'out')
    const { code, stderr } = await resume('--allow-write', 'in', '--allow-write', 'out')
    expect(code).toBe(7)
    expect(flat(stderr)).toMatch(/Not there then: write \S+in\./)
  })

  it('has them told by show, and nobody knows them without the ledger', async () => {
    await park('two.js', '--allow-read', 'in', '--allow-write', 'out')
    const { stdout } = await kept.caisson(['show', 'f'])
    expect(flat(stdout)).toMatch(/write \S+out read \S+in/)
    renameSync(join(kept.path, 'f.ledger'), join(kept.path, 'elsewhere'))
    const alone = await resume('--allow-read', 'in', '--allow-write', 'out')
    expect(flat(alone.stderr)).toContain('nor which directories and hosts the program had')
  })
})

describe('a program that was parked with hosts', () => {
  it('goes on with the same or fewer of them', async () => {
    writeFileSync(
      join(kept.path, 'net.js'),
      'await net.fetch({ url: "https://c.example.org" }).catch(() => {}); return 1',
    )
    const flags = ['--allow-net', '*.example.com', '--allow-net', 'localhost:8080']
    await kept.caisson(['run', 'net.js', ...flags, '--store', 'runs', '--run', 'r', '--stop-at-call', '1'])
    const resume = (...hosts: readonly string[]): Promise<Ended> =>
      kept.caisson(['resume', 'r', '--store', 'runs', ...hosts.flatMap((host) => ['--allow-net', host])])
    const refused = await resume('*.example.com', 'example.org')
    expect(refused.code).toBe(7)
    expect(flat(refused.stderr)).toContain('Not there then: net example.org.')
    expect(await resume('a.EXAMPLE.com')).toMatchObject({ code: 0, stdout: '1\n' })
  })
})
