/** Runs that the command line keeps in SQLite. */
import { readdirSync } from 'node:fs'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { BOUGHT, flat, type KeptFolder, openKeptFolder, RIGHTS } from './kept.testkit.ts'

let kept: KeptFolder
beforeEach(() => {
  kept = openKeptFolder()
})
afterEach(() => kept.remove())

it('are parked, listed, shown, gone on with and collected as those in a folder', {
  timeout: 120_000,
}, async () => {
  const store = ['--store', 'sqlite:runs.db']
  const parked = await kept.caisson([
    'run',
    'shop.js',
    ...store,
    ...RIGHTS,
    '--run',
    'r',
    '--stop-at-call',
    '2',
  ])
  expect(parked.code).toBe(6)
  expect(parked.stderr).toContain('run: r in sqlite:runs.db')
  expect(flat(parked.stderr)).toContain('caisson resume r --store sqlite:runs.db')
  expect((await kept.caisson(['runs', ...store])).stdout).toMatch(/^r\twaiting/)
  expect((await kept.caisson(['show', 'r', ...store])).stdout).toContain('run r in sqlite:runs.db')
  expect(await kept.resume('r', ...store)).toMatchObject({ code: 0, stdout: BOUGHT })
  expect(kept.done()).toEqual(['price A-1', 'order B-2', 'price C-3'])
  expect((await kept.caisson(['doctor', ...store])).stdout).toContain('none in sqlite:runs.db')
  const collected = await kept.caisson(['collect', ...store, '--ended', '0s', '--grace', '0s'])
  expect(collected.stdout).toContain('removed run r')
  expect((await kept.caisson(['runs', ...store])).stderr).toContain('no runs in sqlite:runs.db')
})

it('are looked for without a file being made, and not in a file of something else', async () => {
  for (const args of [['runs'], ['resume', 'r'], ['show', 'r'], ['collect'], ['doctor']]) {
    const { code, stderr } = await kept.caisson([...args, '--store', 'sqlite:runs.db'])
    expect(code, args[0]).toBe(2)
    expect(flat(stderr)).toContain('no store of runs in "sqlite:runs.db"')
  }
  expect(readdirSync(kept.path).sort()).toEqual(['keys.json', 'shop.js', 'spend.js', 'tools.mjs'])
  const foreign = await kept.caisson(['run', 'shop.js', '--store', 'sqlite:shop.js'])
  expect(foreign.code).toBe(2)
  expect(flat(foreign.stderr)).toContain('something else than a store')
})

it('cannot be written to by their programs', async () => {
  const { code, stderr } = await kept.caisson([
    'run',
    'shop.js',
    '--store',
    'sqlite:deep/runs.db',
    '--allow-write',
    '.',
  ])
  expect(code).toBe(2)
  expect(stderr).toContain('overlaps the protected path')
})
