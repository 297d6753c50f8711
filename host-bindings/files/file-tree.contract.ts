/** What every `FileTree` must do. Run it over each implementation. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { FileQuota } from './file-quota.ts'
import type { FileTree } from './file-tree.ts'

/** What a tree is opened with in a test. */
export interface FileTreeSetup {
  readonly files?: Readonly<Record<string, string>>
  readonly writable?: boolean
  readonly quota?: Partial<FileQuota>
}

const encode = (text: string): Uint8Array => new TextEncoder().encode(text)
const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)
const refused = (code: string): unknown => expect.objectContaining({ code })

/** Registers the contract's tests for the trees that `open` gives. Without files the tree is empty. */
export function describeFileTree(name: string, open: (setup?: FileTreeSetup) => Promise<FileTree>): void {
  describe(`file tree: ${name}`, () => {
    it('reads what it holds, whole and in parts', async () => {
      const tree = await open({ files: { 'a/b.txt': 'hello', empty: '' } })
      expect(decode(await tree.read('a/b.txt'))).toBe('hello')
      expect(decode(await tree.read('./a/./b.txt'))).toBe('hello')
      expect(await tree.read('empty')).toHaveLength(0)
      expect(decode(await tree.read('a/b.txt', { offset: 1, length: 3 }))).toBe('ell')
      expect(decode(await tree.read('a/b.txt', { offset: 3, length: 99 }))).toBe('lo')
      expect(await tree.read('a/b.txt', { offset: 99, length: 1 })).toHaveLength(0)
    })

    it('says what stands where, and lists in order', async () => {
      const tree = await open({ files: { 'z.txt': '12', 'a/b': '', 'B.txt': '1' } })
      expect(await tree.stat('z.txt')).toMatchObject({ kind: 'file', bytes: 2 })
      expect((await tree.stat('z.txt')).modifiedMs).toBeGreaterThan(0)
      expect(await tree.stat('a')).toMatchObject({ kind: 'directory', bytes: 0 })
      expect(await tree.stat('.')).toMatchObject({ kind: 'directory' })
      expect(await tree.list('.')).toEqual([
        { name: 'B.txt', kind: 'file', bytes: 1 },
        { name: 'a', kind: 'directory', bytes: 0 },
        { name: 'z.txt', kind: 'file', bytes: 2 },
      ])
    })

    it('tells apart what is missing and what is of another kind', async () => {
      const tree = await open({ files: { file: '', 'dir/x': '' } })
      await expect(tree.read('none')).rejects.toEqual(refused('not_found'))
      await expect(tree.read('none/x')).rejects.toEqual(refused('not_found'))
      await expect(tree.stat('none')).rejects.toEqual(refused('not_found'))
      await expect(tree.list('none')).rejects.toEqual(refused('not_found'))
      await expect(tree.write('none/x', encode('1'))).rejects.toEqual(refused('not_found'))
      await expect(tree.remove('none')).rejects.toEqual(refused('not_found'))
      await expect(tree.read('dir')).rejects.toEqual(refused('path_denied'))
      await expect(tree.read('.')).rejects.toEqual(refused('path_denied'))
      await expect(tree.read('file/x')).rejects.toEqual(refused('path_denied'))
      await expect(tree.list('file')).rejects.toEqual(refused('path_denied'))
      await expect(tree.write('dir', encode('1'))).rejects.toEqual(refused('path_denied'))
      await expect(tree.write('.', encode('1'))).rejects.toEqual(refused('path_denied'))
      await expect(tree.remove('.')).rejects.toEqual(refused('path_denied'))
      await expect(tree.mkdir('file')).rejects.toEqual(refused('already_exists'))
    })

    it('creates, replaces and removes', async () => {
      const tree = await open()
      await tree.mkdir('a/b')
      await tree.mkdir('a/b')
      await tree.mkdir('.')
      await tree.write('a/b/c', encode('1'))
      await tree.write('a/b/c', encode('22'))
      expect(decode(await tree.read('a/b/c'))).toBe('22')
      await expect(tree.remove('a/b')).rejects.toEqual(refused('denied'))
      await tree.remove('a/b/c')
      await tree.remove('a/b')
      expect(await tree.list('a')).toEqual([])
    })

    it('changes nothing where it was opened for reading', async () => {
      const tree = await open({ files: { a: '1' }, writable: false })
      await expect(tree.write('b', encode('1'))).rejects.toEqual(refused('denied'))
      await expect(tree.mkdir('b')).rejects.toEqual(refused('denied'))
      await expect(tree.remove('a')).rejects.toEqual(refused('denied'))
      expect((await tree.list('.')).map((entry) => entry.name)).toEqual(['a'])
    })

    it('keeps no reference to what it was given or gave', async () => {
      const tree = await open()
      const given = encode('1')
      await tree.write('a', given)
      given[0] = 0
      ;(await tree.read('a')).fill(0)
      expect(decode(await tree.read('a'))).toBe('1')
    })

    it.each([
      ['upwards', '..'],
      ['upwards at the end', 'a/..'],
      ['in and out', 'a/../../b'],
      ['an absolute path', '/etc/passwd'],
      ['a trailing slash', 'a/'],
      ['a double slash', 'a//b'],
      ['NUL', 'a\0b'],
      ['a newline', 'a\nb'],
      ['a backslash', 'a\\..\\b'],
      ['a drive', 'C:/x'],
      ['an alternate stream', 'a:b'],
      ['nothing', ''],
      ['a lone surrogate', 'a\ud800'],
      ['a reserved name', '.caisson-x'],
      ['an over-long name', 'x'.repeat(256)],
      ['an over-long name in UTF-8', 'ä'.repeat(128)],
      ['an over-long path', 'x/'.repeat(2_050)],
      ['a deep path', `${'x/'.repeat(64)}x`],
    ])('refuses %s in every operation', async (_name, path) => {
      const tree = await open({ files: { 'a/x': '' } })
      const all = [
        () => tree.read(path),
        () => tree.stat(path),
        () => tree.list(path),
        () => tree.write(path, encode('1')),
        () => tree.remove(path),
        () => tree.mkdir(path),
      ]
      for (const act of all) await expect(act()).rejects.toEqual(refused('path_denied'))
    })

    it('takes names of the longest kind, and names that mean something to JavaScript', async () => {
      const tree = await open()
      for (const path of ['x'.repeat(255), '__proto__', 'constructor', '...', ' ', '~', '%2e%2e', '日本']) {
        await expect(tree.stat(path)).rejects.toEqual(refused('not_found'))
        await tree.write(path, encode(path))
        expect(decode(await tree.read(path))).toBe(path)
      }
    })

    it('reads and writes whatever it is told to, or refuses: any path', async () => {
      const tree = await open()
      const piece = fc.oneof(fc.constantFrom('..', '.', '', 'a', '/', '\\', '\0', ' ', '~'), fc.string())
      const paths = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join('/'))
      await fc.assert(
        fc.asyncProperty(paths, async (path) => {
          try {
            await tree.write(path, encode(path))
          } catch (error) {
            expect(['path_denied', 'not_found']).toContain((error as { code: string }).code)
            return
          }
          expect(decode(await tree.read(path))).toBe(new TextDecoder().decode(encode(path)))
          await tree.remove(path)
        }),
        { numRuns: 200 },
      )
      expect(await tree.list('.')).toEqual([])
    })

    it('refuses files above the quota and loses nothing', async () => {
      const tree = await open({ files: { a: '1' }, quota: { fileBytes: 4 } })
      await expect(tree.write('a', encode('12345'))).rejects.toEqual(refused('quota_exceeded'))
      expect(decode(await tree.read('a'))).toBe('1')
    })

    it('reads at most the quota at once', async () => {
      const tree = await open({ files: { a: '12345' }, quota: { fileBytes: 4 } })
      await expect(tree.read('a')).rejects.toEqual(refused('result_too_large'))
      expect(decode(await tree.read('a', { offset: 1, length: 4 }))).toBe('2345')
    })

    it('grows by its quota of bytes and no more; replacing and removing give back', async () => {
      const tree = await open({ files: { old: '123456' }, quota: { totalBytes: 10 } })
      await tree.write('a', encode('123456'))
      await expect(tree.write('b', encode('12345'))).rejects.toEqual(refused('quota_exceeded'))
      await tree.write('a', encode('1'))
      await tree.write('b', encode('12345'))
      await tree.remove('b')
      await tree.write('old', encode('123456789012345')) // grows by 9
      await expect(tree.write('a', encode('12'))).rejects.toEqual(refused('quota_exceeded'))
      expect(decode(await tree.read('a'))).toBe('1')
    })

    it('grows by its quota of entries and no more', async () => {
      const tree = await open({ files: { old: '1' }, quota: { entries: 3 } })
      await tree.mkdir('a/b')
      await tree.write('c', encode('1'))
      await expect(tree.write('d', encode('1'))).rejects.toEqual(refused('quota_exceeded'))
      await expect(tree.mkdir('d')).rejects.toEqual(refused('quota_exceeded'))
      await tree.write('c', encode('2'))
      await tree.remove('a/b')
      await tree.write('d', encode('1'))
    })

    it('keeps its quota also under many writes at once', async () => {
      const tree = await open({ quota: { totalBytes: 50, operations: 2 } })
      const writes = Array.from({ length: 40 }, (_, index) => tree.write(`f${index}`, encode('1234567890')))
      const results = await Promise.allSettled(writes)
      expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(5)
      expect(await tree.list('.')).toHaveLength(5)
    })

    it('shows readers the old content or the new, never a part', async () => {
      const tree = await open({ files: { a: 'x'.repeat(100_000) } })
      const contents = new Set<string>()
      const writing = tree.write('a', encode('y'.repeat(100_000)))
      const reads = Array.from({ length: 10 }, async () => contents.add(decode(await tree.read('a'))))
      await Promise.all([writing, ...reads])
      for (const content of contents) expect(content).toMatch(/^(x{100000}|y{100000})$/)
    })
  })
}
