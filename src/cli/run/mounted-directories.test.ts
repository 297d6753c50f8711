import { describe, expect, it } from 'vitest'
import { createMemoryFileTree } from '../../../host-bindings/files/memory-file-tree.ts'
import { mountDirectories } from './mounted-directories.ts'

const open = () =>
  mountDirectories(
    new Map([
      ['out', createMemoryFileTree()],
      ['data', createMemoryFileTree({ files: { 'a.txt': 'A', 'sub/b.txt': 'B' }, writable: false })],
    ]),
  )
const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)
const code = (expected: string): object => expect.objectContaining({ code: expected })

describe('mounted directories', () => {
  it('lists the directories at the root, by name', async () => {
    const tree = open()
    expect(await tree.list('.')).toEqual([
      { name: 'data', kind: 'directory', bytes: 0 },
      { name: 'out', kind: 'directory', bytes: 0 },
    ])
    expect(await tree.stat('.')).toMatchObject({ kind: 'directory' })
  })

  it('hands paths to the directory of their first name', async () => {
    const tree = open()
    expect(text(await tree.read('data/sub/b.txt'))).toBe('B')
    expect(text(await tree.read('./data/a.txt', { offset: 0, length: 1 }))).toBe('A')
    expect(await tree.stat('data')).toMatchObject({ kind: 'directory' })
    expect((await tree.list('data')).map(({ name }) => name)).toEqual(['a.txt', 'sub'])
    await tree.mkdir('out/x')
    await tree.write('out/x/c.txt', new TextEncoder().encode('C'))
    expect(text(await tree.read('out/x/c.txt'))).toBe('C')
    await tree.remove('out/x/c.txt')
    await expect(tree.read('out/x/c.txt')).rejects.toThrow(code('not_found'))
    expect(tree.locate('out/x')).toBeUndefined()
  })

  it('keeps directories apart: no path leads from one to the other or upwards', async () => {
    const tree = open()
    for (const path of ['out/../data/a.txt', '../a.txt', '/data/a.txt', 'data/../../x']) {
      await expect(tree.read(path), path).rejects.toThrow(code('path_denied'))
    }
    await expect(tree.read('a.txt')).rejects.toThrow(code('not_found'))
    await expect(tree.read('constructor')).rejects.toThrow(code('not_found'))
  })

  it('writes nothing at the root and nothing where only reading was granted', async () => {
    const tree = open()
    for (const act of [
      tree.write('.', new Uint8Array()),
      tree.remove('.'),
      tree.mkdir('.'),
      tree.read('.'),
    ]) {
      await expect(act).rejects.toThrow(code('path_denied'))
    }
    await expect(tree.write('new/a.txt', new Uint8Array())).rejects.toThrow(code('path_denied'))
    await expect(tree.mkdir('new')).rejects.toThrow('none of the granted directories')
    await expect(tree.remove('new')).rejects.toThrow(code('not_found'))
    await expect(tree.write('data/a.txt', new Uint8Array())).rejects.toThrow(code('denied'))
  })
})
