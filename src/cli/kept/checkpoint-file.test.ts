import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { checkNewFile, writeCheckpointFile } from './checkpoint-file.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'caisson-file-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const bytes = new Uint8Array([1, 2, 3])
const write = (name: string): Promise<void> =>
  writeCheckpointFile(join(folder, name), name, bytes, 'caisson resume r --store f.ledger')

describe('a checkpoint file', () => {
  it('is written whole, for its owner alone, and replaces the one before', async () => {
    writeFileSync(join(folder, 'f'), 'an older and longer one')
    await write('f')
    expect(new Uint8Array(readFileSync(join(folder, 'f')))).toEqual(bytes)
    if (process.platform !== 'win32') expect(statSync(join(folder, 'f')).mode & 0o777).toBe(0o600)
    expect(readdirSync(folder)).toEqual(['f'])
  })

  it.each([
    ['a folder that is gone', 'gone/f'],
    ['a folder in its place', 'taken'],
  ])('that cannot be written says so, with what goes on all the same: %s', async (_, name) => {
    mkdirSync(join(folder, 'taken'))
    await expect(write(name)).rejects.toMatchObject({
      exit: 1,
      code: 'store_failed',
      hint: expect.stringContaining('caisson resume r --store f.ledger'),
    })
    expect(readdirSync(folder)).toEqual(['taken'])
  })

  it('is refused before anything runs where it would overwrite something', async () => {
    writeFileSync(join(folder, 'f'), '')
    mkdirSync(join(folder, 'g.ledger'))
    for (const name of ['f', 'g', 'gone/f']) {
      await expect(checkNewFile(join(folder, name), name)).rejects.toMatchObject({ exit: 2 })
    }
    await expect(checkNewFile(join(folder, 'h'), 'h')).resolves.toBeUndefined()
  })
})
