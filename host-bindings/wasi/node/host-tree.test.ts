import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { CaissonError } from '../../../src/base/errors.ts'
import type { WasiTree } from '../../../src/ports/wasi-files.ts'
import type { WasiTreeQuota } from '../files/memory-node.ts'
import { makeLinkAt, removeFileAt, renameAt, statPath } from '../files/path-operations.ts'
import { describeWasiTree, failure, openFileAt, readAt, writeAt } from '../files/wasi-tree.contract.ts'
import { createHostTree } from './host-tree.node.ts'

const folders: string[] = []

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'caisson-wasi-'))
  folders.push(made)
  return made
}

const NOW = 1_700_000_000_000_000_000n

for (const lookup of ['anchored', 'checked'] as const) {
  const make = (root: string, quota?: Partial<WasiTreeQuota>): WasiTree =>
    createHostTree({ root, lookup, nowNs: () => NOW, ...(quota === undefined ? {} : { quota }) })

  describeWasiTree(`a real directory, ${lookup}`, (quota) => make(folder(), quota))

  describe(`a real directory, ${lookup}`, () => {
    it('follows links inside and none that lead out (attack 35)', () => {
      const outside = folder()
      writeFileSync(join(outside, 'secret'), 'secret')
      const root = folder()
      mkdirSync(join(root, 'd'))
      writeFileSync(join(root, 'd/f'), 'in')
      symlinkSync('d/f', join(root, 'inside'))
      symlinkSync(join(outside, 'secret'), join(root, 'absolute'))
      symlinkSync(outside, join(root, 'directory'))
      symlinkSync(`../${outside.split('/').at(-1)}/secret`, join(root, 'relative'))
      const directory = make(root).open()
      expect(readAt(directory, 'inside')).toBe('in')
      for (const path of ['absolute', 'directory/secret', 'relative']) {
        expect(
          [failure(() => readAt(directory, path)), failure(() => writeAt(directory, path, 'x'))],
          path,
        ).toEqual(['not-permitted', 'not-permitted'])
      }
      expect(readFileSync(join(outside, 'secret'), 'utf8')).toBe('secret')
      expect(readdirSync(outside)).toEqual(['secret'])
    })

    it('makes no links', () => {
      const root = folder()
      expect(failure(() => makeLinkAt(make(root).open(), 'l', 'x'))).toBe('not-permitted')
      expect(readdirSync(root)).toEqual([])
    })

    it('refuses a name that was swapped for a link after it was opened (attack 35)', () => {
      const outside = folder()
      const root = folder()
      mkdirSync(join(root, 'd'))
      const inner = make(root).open().openDirectory('d')
      rmSync(join(root, 'd'), { recursive: true })
      symlinkSync(outside, join(root, 'd'))
      expect(failure(() => writeAt(inner, 'f', 'x'))).not.toBe('none')
      expect(readdirSync(outside)).toEqual([])
    })

    it('opens no pipe, device or socket, and waits for none (attack 36)', () => {
      const root = folder()
      execFileSync('mkfifo', [join(root, 'pipe')])
      const directory = make(root).open()
      expect(failure(() => openFileAt(directory, 'pipe'))).toBe('not-permitted')
      expect(failure(() => writeAt(directory, 'pipe', 'x'))).toBe('not-permitted')
      expect(statPath(directory, 'pipe', true).kind).toBe('other')
      expect(() => make('/proc/self')).toThrow(CaissonError)
    })

    it('shows and leaves times of the guest and none of the host', () => {
      const root = folder()
      const directory = make(root).open()
      writeAt(directory, 'f', 'x')
      expect(statPath(directory, 'f', false)).toMatchObject({
        inode: 1n,
        modifiedNs: NOW,
        changedNs: NOW,
        accessedNs: NOW,
      })
      expect(directory.stat()).toMatchObject({ modifiedNs: 0n, changedNs: 0n })
    })

    it('counts what is replaced and what is removed while it is open', () => {
      const root = folder()
      const directory = make(root, { totalBytes: 10 }).open()
      for (let round = 0; round < 5; round += 1) {
        writeAt(directory, 'a', '12345678')
        renameAt(directory, 'a', directory, 'b')
        removeFileAt(directory, 'b')
      }
      expect(readdirSync(root)).toEqual([])
    })

    it('has given back every descriptor when all is closed', () => {
      if (!existsSync('/proc/self/fd')) return
      const root = folder()
      mkdirSync(join(root, 'a/b/c'), { recursive: true })
      const directory = make(root).open()
      writeAt(directory, 'a/b/c/f', 'x')
      const before = readdirSync('/proc/self/fd').length
      for (let round = 0; round < 200; round += 1) {
        expect(readAt(directory, 'a/b/c/../c/f')).toBe('x')
        failure(() => readAt(directory, 'a/b/c/none'))
        failure(() => readAt(directory, 'a/b/c/../../../../x'))
      }
      expect(readdirSync('/proc/self/fd').length).toBeLessThanOrEqual(before + 2)
    })
  })
}
