import { describe, expect, it } from 'vitest'
import { CaissonError } from '../../../src/base/errors.ts'
import type { WasiTreeState } from '../../../src/ports/wasi-files.ts'
import { createWasiMemoryTree } from './memory-tree.ts'
import { makeLinkAt, readLinkAt, removeFileAt, statPath } from './path-operations.ts'
import { describeWasiTree, failure, openFileAt, readAt, writeAt } from './wasi-tree.contract.ts'

describeWasiTree('in memory', (quota) => createWasiMemoryTree(quota === undefined ? {} : { quota }))

describe('links of a tree in memory', () => {
  it('are followed inside, and lead nowhere above the start (attack 35)', () => {
    const root = createWasiMemoryTree({ files: { 'd/f': 'in' } }).open()
    makeLinkAt(root, 'l', 'd/f')
    makeLinkAt(root, 'd/up', '../d')
    makeLinkAt(root, 'out', 'd/../../x')
    expect(readAt(root, 'l')).toBe('in')
    expect(readAt(root, 'd/up/up/f')).toBe('in')
    expect(readLinkAt(root, 'l')).toBe('d/f')
    expect(failure(() => statPath(root, 'out', true))).toBe('not-permitted')
    expect(failure(() => makeLinkAt(root, 'abs', '/etc'))).toBe('not-permitted')
    expect(failure(() => openFileAt(root.openDirectory('d'), 'up/f'))).toBe('not-permitted')
  })

  it('that lead in circles, or to more and more links, end', () => {
    const root = createWasiMemoryTree().open()
    makeLinkAt(root, 'a', 'b')
    makeLinkAt(root, 'b', 'a')
    expect(failure(() => statPath(root, 'a', true))).toBe('loop')
    makeLinkAt(root, 'l', 'l/'.repeat(2_000))
    expect(failure(() => statPath(root, 'l', true))).toMatch(/loop|name-too-long/)
  })
})

describe('the state of a tree in memory', () => {
  const tree = () =>
    createWasiMemoryTree({
      files: { 'a/b': 'text' },
      base: { 'base/x': { digest: 'sha256:x', bytes: new TextEncoder().encode('shared') } },
    })

  it('brings everything back, open files without a name too', () => {
    const before = tree()
    const root = before.open()
    makeLinkAt(root, 'l', 'a/b')
    writeAt(root, 'gone', 'orphan')
    const gone = openFileAt(root, 'gone')
    const { inode } = gone.stat()
    removeFileAt(root, 'gone')
    const state = structuredClone(before.memory.capture([inode]))
    const after = tree()
    after.memory.restore(state)
    const again = after.open()
    expect([readAt(again, 'l'), readAt(again, 'base/x')]).toEqual(['text', 'shared'])
    expect(new TextDecoder().decode(after.memory.reopenFile(inode).read(0, 9))).toBe('orphan')
    expect(after.memory.capture([inode])).toEqual(state)
  })

  it('holds of the base only digests, and copies what is changed', () => {
    const bytes = new TextEncoder().encode('shared')
    const overlay = createWasiMemoryTree({ base: { x: { digest: 'sha256:x', bytes } } })
    const kinds = (): readonly string[] => overlay.memory.capture([]).nodes.map(({ kind }) => kind)
    expect(kinds()).toEqual(['directory', 'base'])
    expect(overlay.files({ changed: true }).size).toBe(0)
    writeAt(overlay.open(), 'x', 'own')
    expect(kinds()).toEqual(['directory', 'file'])
    expect([...overlay.files({ changed: true }).keys()]).toEqual(['x'])
    expect(new TextDecoder().decode(bytes)).toBe('shared')
  })

  it('that contradicts itself is refused', () => {
    const good = tree().memory.capture([])
    const change = (edit: (nodes: Record<string, unknown>[]) => void): unknown => {
      const nodes = structuredClone(good.nodes) as unknown as Record<string, unknown>[]
      edit(nodes)
      return { ...good, nodes }
    }
    const bad: readonly unknown[] = [
      undefined,
      { nodes: [], nextInode: 9n },
      change((nodes) => nodes.shift()),
      change((nodes) => nodes.push(nodes[1] ?? {})),
      change((nodes) => Object.assign(nodes[0] ?? {}, { entries: [['..', 2n]] })),
      change((nodes) => Object.assign(nodes[0] ?? {}, { entries: [['a/b', 2n]] })),
      change((nodes) => Object.assign(nodes[0] ?? {}, { entries: [['self', 1n]] })),
      change((nodes) => Object.assign(nodes[0] ?? {}, { entries: [['x', 77n]] })),
      change((nodes) => Object.assign(nodes[0] ?? {}, { modifiedNs: 1n << 64n })),
      change((nodes) => nodes.push({ ...nodes[0], inode: 9n, kind: 'fifo' })),
      change((nodes) => nodes.push({ ...nodes[0], inode: 9n, kind: 'base', digest: 'sha256:other' })),
      { ...good, nextInode: 1n },
    ]
    for (const state of bad) {
      const restored = tree()
      expect(() => restored.memory.restore(state as WasiTreeState)).toThrow(CaissonError)
      expect(restored.open().entries()).toEqual([])
    }
  })
})
