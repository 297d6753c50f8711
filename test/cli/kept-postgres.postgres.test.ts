/** Runs that the command line keeps in Postgres: no password is ever shown. */
import { afterEach, beforeEach, expect, inject, it } from 'vitest'
import { BOUGHT, flat, type KeptFolder, openKeptFolder, RIGHTS } from './kept.testkit.ts'

let kept: KeptFolder
const schema = `cli_${process.pid}`
beforeEach(() => {
  kept = openKeptFolder()
})
afterEach(() => kept.remove())

it('are parked, listed and gone on with as those in a folder', { timeout: 120_000 }, async () => {
  const url = new URL(inject('postgresUrl'))
  url.searchParams.set('schema', schema)
  const { password } = url
  const store = ['--store', url.href]
  const said: string[] = []
  const caisson = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await kept.caisson(args)
    said.push(stdout, stderr)
    return `${code} ${stdout}${flat(stderr)}`
  }
  expect(await caisson('runs', ...store)).toContain('no store of runs')
  const parked = await caisson('run', 'shop.js', ...store, ...RIGHTS, '--run', 'r', '--stop-at-call', '2')
  expect(parked).toMatch(/^6 /)
  expect(parked).toContain(`caisson resume r --store`)
  expect(parked).toContain(`schema=${schema}`)
  expect(await caisson('runs', ...store)).toMatch(/^0 r\twaiting/)
  expect(await caisson('show', 'r', ...store)).toMatch(/^0 run r in/)
  expect(await kept.resume('r', ...store)).toMatchObject({ code: 0, stdout: BOUGHT })
  expect(await caisson('run', 'shop.js', ...store, ...RIGHTS, '--run', 'r')).toMatch(/^2 .*There is a run/)
  expect(await caisson('resume', 'nobody', ...store)).toMatch(/^2 /)
  expect(await caisson('collect', ...store, '--dry-run')).toMatch(/^0 /)
  expect(said.join('\n')).not.toContain(password)
  expect(said.join('\n')).not.toContain(decodeURIComponent(password))
})

it('are not had from a server that does not answer, or that does not let one in', async () => {
  const { port } = new URL(inject('postgresUrl'))
  for (const store of [
    'postgres://caisson:s3cr3t@127.0.0.1:1/postgres',
    `postgres://caisson:s3cr3t@127.0.0.1:${port}/postgres`,
    'postgres://caisson:s3cr3t@[/postgres',
    'postgres:caisson:s3cr3t',
    `postgres://caisson:s3cr3t@127.0.0.1:${port}/postgres?schema=Not-A-Schema`,
  ]) {
    for (const args of [['runs'], ['run', 'shop.js', ...RIGHTS]]) {
      const { code, stdout, stderr } = await kept.caisson([...args, '--store', store])
      expect(code, store).not.toBe(0)
      expect(stderr).toMatch(/next: /)
      expect(stdout + stderr).not.toContain('s3cr3t')
    }
  }
})
