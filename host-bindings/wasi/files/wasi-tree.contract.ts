/** What every kind of tree does, as a guest's paths find it. */
import { describe, expect, it } from 'vitest'
import type { WasiDirectory, WasiFile, WasiTree } from '../../../src/ports/wasi-files.ts'
import { fileErrorOf } from './file-failure.ts'
import type { WasiTreeQuota } from './memory-node.ts'
import {
  hardLinkAt,
  makeDirectoryAt,
  type OpenPathHow,
  openPath,
  removeDirectoryAt,
  removeFileAt,
  renameAt,
  statPath,
} from './path-operations.ts'
import { readOnlyDirectory } from './read-only.ts'

const READ: OpenPathHow = {
  follow: true,
  create: false,
  exclusive: false,
  truncate: false,
  directory: false,
  write: false,
}
const CREATE: OpenPathHow = { ...READ, create: true, write: true }

const text = (value: string): Uint8Array => new TextEncoder().encode(value)

export function openFileAt(root: WasiDirectory, path: string, how: OpenPathHow = READ): WasiFile {
  const opened = openPath(root, path, how)
  if (opened.kind !== 'file') throw new Error('That is a directory.')
  return opened.file
}

/** The code of what `act` throws. */
export function failure(act: () => unknown): string {
  try {
    act()
  } catch (error) {
    return fileErrorOf(error)
  }
  return 'none'
}

export function writeAt(root: WasiDirectory, path: string, content: string): void {
  const file = openFileAt(root, path, { ...CREATE, truncate: true })
  try {
    file.write(0, text(content))
  } finally {
    file.close()
  }
}

export function readAt(root: WasiDirectory, path: string): string {
  const file = openFileAt(root, path)
  try {
    return new TextDecoder().decode(file.read(0, 1_000_000))
  } finally {
    file.close()
  }
}

/** @param make an empty tree, growing by no more than the quota */
export function describeWasiTree(name: string, make: (quota?: Partial<WasiTreeQuota>) => WasiTree): void {
  describe(`a tree: ${name}`, () => {
    it('reads what was written, in place, with gaps of zeros, and to the end', () => {
      const root = make().open()
      writeAt(root, 'a', 'hello')
      const file = openFileAt(root, 'a', { ...READ, write: true })
      file.write(7, text('!'))
      expect([...file.read(4, 99)]).toEqual([111, 0, 0, 33])
      expect(file.read(8, 1)).toHaveLength(0)
      file.resize(2)
      expect(file.stat().bytes).toBe(2n)
      file.close()
      expect(readAt(root, 'a')).toBe('he')
    })

    it('keeps a file that is open when its name goes', () => {
      const root = make().open()
      writeAt(root, 'a', 'still here')
      const file = openFileAt(root, 'a')
      removeFileAt(root, 'a')
      expect(failure(() => statPath(root, 'a', false))).toBe('no-entry')
      expect(new TextDecoder().decode(file.read(0, 99))).toBe('still here')
      file.close()
    })

    it('makes, lists, moves and removes directories', () => {
      const root = make().open()
      makeDirectoryAt(root, 'b')
      makeDirectoryAt(root, 'b/c/')
      writeAt(root, 'b/c/f', 'x')
      expect(root.entries().map((entry) => [entry.name, entry.kind])).toEqual([['b', 'directory']])
      expect(failure(() => removeDirectoryAt(root, 'b'))).toBe('not-empty')
      expect(failure(() => renameAt(root, 'b', root, 'b/c/d'))).toBe('invalid')
      renameAt(root, 'b/c', root, 'd')
      expect(readAt(root, 'd/f')).toBe('x')
      removeDirectoryAt(root, 'b')
      expect(failure(() => makeDirectoryAt(root, 'd'))).toBe('exist')
      expect(failure(() => openFileAt(root, 'd/f/g'))).toBe('not-directory')
    })

    it('gives one file several names', () => {
      const root = make().open()
      writeAt(root, 'a', '1')
      hardLinkAt(root, 'a', false, root, 'b')
      writeAt(root, 'b', '22')
      expect(readAt(root, 'a')).toBe('22')
      expect(statPath(root, 'a', false).links).toBe(2n)
      expect(statPath(root, 'a', false).inode).toBe(statPath(root, 'b', false).inode)
    })

    it('leads nowhere above the start, by no path (attack 34)', () => {
      const root = make().open()
      makeDirectoryAt(root, 'd')
      writeAt(root, 'f', '')
      const paths = ['..', '../x', 'd/../../x', '/etc/passwd', '/', 'd/./../..', './..']
      for (const path of paths) {
        expect(
          [failure(() => openPath(root, path, READ)), failure(() => writeAt(root, path, 'x'))],
          path,
        ).toEqual(['not-permitted', 'not-permitted'])
      }
      expect(failure(() => openPath(root, 'a\0b', READ))).toBe('invalid')
      expect(failure(() => openPath(root, '', READ))).toBe('no-entry')
      expect(failure(() => openPath(root, 'x'.repeat(256), READ))).toBe('name-too-long')
      expect(failure(() => openPath(root, 'd/'.repeat(3_000), READ))).toBe('name-too-long')
      expect(failure(() => openPath(root, 'f/', READ))).toBe('not-directory')
      const below = root.openDirectory('d')
      expect(failure(() => openPath(below, '../f', READ))).toBe('not-permitted')
    })

    it('stays within its quota, and what does not fit changes nothing (attack 37)', () => {
      const root = make({ fileBytes: 8, totalBytes: 10, entries: 3 }).open()
      writeAt(root, 'a', '12345678')
      const full = openFileAt(root, 'a', { ...READ, write: true })
      expect(failure(() => full.write(1, text('12345678')))).toBe('file-too-large')
      expect(readAt(root, 'a')).toBe('12345678')
      full.close()
      const file = openFileAt(root, 'b', CREATE)
      expect(failure(() => file.write(0, text('123')))).toBe('insufficient-space')
      expect(failure(() => file.write(2 ** 40, text('1')))).toBe('file-too-large')
      expect(failure(() => file.resize(3))).toBe('insufficient-space')
      expect(file.stat().bytes).toBe(0n)
      file.write(0, text('12'))
      writeAt(root, 'c', '')
      expect(failure(() => writeAt(root, 'd', ''))).toBe('insufficient-space')
      expect(failure(() => makeDirectoryAt(root, 'd'))).toBe('insufficient-space')
      removeFileAt(root, 'b')
      // Its room is taken for as long as it is open.
      expect(failure(() => makeDirectoryAt(root, 'd'))).toBe('insufficient-space')
      file.close()
      writeAt(root, 'd', '12')
      expect(readAt(root, 'd')).toBe('12')
    })

    it('changes nothing where it was granted for reading', () => {
      const tree = make()
      writeAt(tree.open(), 'a', 'x')
      makeDirectoryAt(tree.open(), 'd')
      const root = readOnlyDirectory(tree.open())
      const changes: readonly (() => unknown)[] = [
        () => writeAt(root, 'a', 'y'),
        () => writeAt(root, 'new', 'y'),
        () => openFileAt(root, 'a', { ...READ, truncate: true }),
        () => openFileAt(root, 'a').write(0, text('y')),
        () => openFileAt(root, 'a').resize(0),
        () => openFileAt(root, 'a').setTimes({}),
        () => makeDirectoryAt(root, 'e'),
        () => makeDirectoryAt(root, 'd/e'),
        () => removeFileAt(root, 'a'),
        () => removeDirectoryAt(root, 'd'),
        () => renameAt(root, 'a', root, 'b'),
        () => hardLinkAt(root, 'a', false, root, 'b'),
      ]
      expect(changes.map((change) => failure(change))).toEqual(changes.map(() => 'read-only'))
      expect(readAt(root, 'a')).toBe('x')
      expect(tree.open().entries()).toHaveLength(2)
    })
  })
}
