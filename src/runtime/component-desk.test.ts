import { describe, expect, it } from 'vitest'
import { createMemoryPreparedStore } from '../../host-bindings/prepared/memory-prepared-store.ts'
import { readSample } from '../../scripts/samples/read-sample.ts'
import { openRuntime } from '../entry/node.ts'
import type { PreparedStore } from '../ports/prepared-store.ts'

function openWatchedStore(): { store: PreparedStore; names: string[]; puts: () => number } {
  const memory = createMemoryPreparedStore()
  const names: string[] = []
  let puts = 0
  const store: PreparedStore = {
    get(name, mostBytes) {
      names.push(name)
      return memory.get(name, mostBytes)
    },
    put(name, bytes) {
      puts += 1
      return memory.put(name, bytes)
    },
  }
  return { store, names, puts: () => puts }
}

describe('components of a runtime', () => {
  it('are opened, called, and kept from what they were not given', async () => {
    await using runtime = await openRuntime()
    const bytes = await readSample('tool-c')
    const interfaces = { $root: { hostCall: (name: string, json: string) => `${name}:${json}` } }
    const component = await runtime.openComponent(bytes, { interfaces, limits: { fuel: 10_000_000 } })
    expect(await component.call('run', ['a'])).toMatchObject({ status: 'completed', value: { tag: 'ok' } })
    await expect(runtime.openComponent(bytes)).rejects.toMatchObject({ code: 'missing_imports' })
  })

  it('are prepared once for all runtimes that share a cache and its key', async () => {
    const { store, names, puts } = openWatchedStore()
    const bytes = await readSample('tool-c')
    const interfaces = { $root: { hostCall: (name: string, json: string) => `${name}:${json}` } }
    const run = async (key: number): Promise<unknown> => {
      await using runtime = await openRuntime()
      const cache = { store, key: new Uint8Array(32).fill(key) }
      const limits = { fuel: 10_000_000 }
      const component = await runtime.openComponent(bytes, { interfaces, limits, cache })
      const { usage, ...outcome } = await component.call('run', ['a'])
      return { ...outcome, fuel: usage.fuel }
    }
    const first = await run(1)
    expect(first).toMatchObject({ status: 'completed', value: { tag: 'ok' } })
    expect(await run(1)).toEqual(first)
    expect(puts()).toBe(1)
    // With another key, what the store has under the first name is nothing.
    expect(await run(2)).toEqual(first)
    expect([puts(), new Set(names).size]).toEqual([2, 2])
  })

  it('are kept for those who open them with the same key alone', async () => {
    const { store, puts } = openWatchedStore()
    const bytes = await readSample('tool-c')
    const interfaces = { $root: { hostCall: (_name: string, json: string) => json } }
    await using runtime = await openRuntime()
    const open = async (key: number): Promise<number> => {
      const cache = { store, key: new Uint8Array(32).fill(key) }
      const component = await runtime.openComponent(bytes, { interfaces, cache })
      expect(await component.call('run', ['a'])).toMatchObject({ status: 'completed' })
      component[Symbol.dispose]()
      return puts()
    }
    expect([await open(1), await open(1), await open(2), await open(2), await open(1)]).toEqual([
      1, 1, 2, 2, 2,
    ])
  })

  it('are refused for what they are not', async () => {
    await using runtime = await openRuntime()
    const module = await readSample('module-as')
    const component = await readSample('types-c')
    await expect(runtime.openComponent(module)).rejects.toMatchObject({ code: 'invalid_module' })
    await expect(runtime.openComponent(component.slice(0, 900))).rejects.toMatchObject({
      code: 'invalid_component',
    })
    await expect(runtime.openComponent(new Uint8Array(0))).rejects.toMatchObject({ code: 'invalid_module' })
    await expect(runtime.openComponent('text' as unknown as Uint8Array)).rejects.toMatchObject({
      code: 'invalid_argument',
    })
    await expect(
      runtime.openComponent(component, { limits: { memoryBytes: 2 ** 31 } }),
    ).rejects.toMatchObject({ code: 'invalid_limit' })
  })
})
