import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { createMemoryPreparedStore } from './memory-prepared-store.ts'
import { openDirectoryPreparedStore } from './node/directory-prepared-store.node.ts'
import { describePreparedStore } from './prepared-store.contract.ts'

const folder = mkdtempSync(join(tmpdir(), 'caisson-prepared-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let opened = 0
const freshPath = (): string => join(folder, 'made', String(opened++))
const NAME = 'ab'.repeat(32)

describePreparedStore('memory', async (maxBytes) => createMemoryPreparedStore({ maxBytes }))
describePreparedStore('directory', (maxBytes) => openDirectoryPreparedStore({ path: freshPath(), maxBytes }))

describe('prepared modules in a folder', () => {
  it('reads plain files alone (invariant 2)', async () => {
    const path = freshPath()
    const store = await openDirectoryPreparedStore({ path })
    const file = join(path, `${NAME}.prepared`)
    const outside = join(folder, 'outside')
    writeFileSync(outside, 'secret')
    symlinkSync(outside, file)
    expect(await store.get(NAME, 100)).toBeUndefined()
    await store.put(NAME, new Uint8Array([1]))
    expect(await store.get(NAME, 100)).toEqual(new Uint8Array([1]))
    expect(statSync(outside).size).toBe(6)
    rmSync(file)
    execFileSync('mkfifo', [file])
    expect(await store.get(NAME, 100)).toBeUndefined()
  })

  it('is the user’s alone, and takes no name that leads elsewhere', async () => {
    const path = freshPath()
    const store = await openDirectoryPreparedStore({ path })
    expect(statSync(path).mode & 0o77).toBe(0)
    await expect(store.get('../outside', 100)).rejects.toMatchObject({ code: 'invalid_argument' })
    await expect(store.put(`${NAME}/..`, new Uint8Array(1))).rejects.toMatchObject({
      code: 'invalid_argument',
    })
    await expect(openDirectoryPreparedStore({ path: '' })).rejects.toMatchObject({ code: 'invalid_argument' })
    const inFile = join(folder, 'outside', 'x')
    await expect(openDirectoryPreparedStore({ path: inFile })).rejects.toMatchObject({ code: 'store_failed' })
  })

  it('clears what writers left, and nothing of others (invariant 3)', async () => {
    const path = freshPath()
    const store = await openDirectoryPreparedStore({ path })
    for (const name of ['old.unfinished', 'new.unfinished', 'notes.txt']) writeFileSync(join(path, name), 'x')
    utimesSync(join(path, 'old.unfinished'), 1, 1)
    utimesSync(join(path, 'notes.txt'), 1, 1)
    await store.put(NAME, new Uint8Array([1]))
    expect(readdirSync(path).sort()).toEqual([`${NAME}.prepared`, 'new.unfinished', 'notes.txt'])
  })
})
