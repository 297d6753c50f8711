import { describe, expect, it } from 'vitest'
import { createMemoryRunStore } from '../../host-bindings/store/memory-run-store.ts'
import { nodeCheckpointPorts } from '../../host-bindings/system/checkpoint-ports.node.ts'
import { sha256 } from '../base/digest.ts'
import type { RunStore } from '../ports/run-store.ts'
import { describeRun, listRuns } from './describe-run.ts'

describe('looking at a run', () => {
  it('3: reads nothing of a chain that is longer than any', async () => {
    let read = 0
    const id = sha256(new Uint8Array([1]))
    const head = { version: 1, chain: Array(20_000).fill(id), position: 0, summary: new Uint8Array() }
    const memory = createMemoryRunStore()
    const store = new Proxy<RunStore>(memory, {
      get: (_, name: keyof RunStore) => {
        if (name === 'runs') return async () => ['r', 's']
        if (name === 'head') return async (run: string) => (run === 'r' ? head : undefined)
        if (name !== 'getBlob') return memory[name]?.bind(memory)
        return async () => {
          read += 1
          return undefined
        }
      },
    })
    const options = { ports: nodeCheckpointPorts }
    await expect(describeRun(store, 'r', options, 'local')).rejects.toMatchObject({ code: 'corrupted' })
    const listed = await listRuns(store, options, 'local')
    expect(listed.map(({ run }) => run)).toEqual(['r', 's'])
    expect(read).toBe(0)
  })
})
