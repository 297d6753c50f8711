/** Prepared modules that a runtime keeps: for whom, and from where. */
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createMemoryPreparedStore } from '../../host-bindings/prepared/memory-prepared-store.ts'
import { openRuntime, type Runtime } from '../../src/entry/node.ts'

const COMMAND = readFileSync(new URL('../../guest/samples/built/command-c.wasm', import.meta.url))

describe('a prepared module', () => {
  let runtime: Runtime
  beforeAll(async () => {
    runtime = await openRuntime()
  })
  afterAll(() => runtime.close())

  it('is kept for those who run it with the same key alone', async () => {
    const memory = createMemoryPreparedStore()
    let puts = 0
    const store: typeof memory = {
      get: (name, mostBytes) => memory.get(name, mostBytes),
      put: (name, bytes) => {
        puts += 1
        return memory.put(name, bytes)
      },
    }
    const run = async (key: number): Promise<number> => {
      const cache = { store, key: new Uint8Array(32).fill(key) }
      const outcome = await runtime.runModule(COMMAND, { args: ['args', 'a'], suspendable: false, cache })
      expect(outcome.status).toBe('completed')
      return puts
    }
    expect([await run(1), await run(1), await run(2), await run(2), await run(1)]).toEqual([1, 1, 2, 2, 2])
  })

  it('is refused with a cache whose key is none', async () => {
    const cache = { store: createMemoryPreparedStore(), key: new Uint8Array(5) }
    await expect(runtime.runModule(COMMAND, { cache })).rejects.toMatchObject({ code: 'invalid_argument' })
    await expect(
      runtime.runModule(COMMAND, { cache: { ...cache, key: undefined as never } }),
    ).rejects.toMatchObject({ code: 'invalid_argument' })
  })
})
