import { describe, expect, it } from 'vitest'
import { createMemoryRunStore } from '../../host-bindings/store/memory-run-store.ts'
import { nodeCheckpointPorts } from '../../host-bindings/system/checkpoint-ports.node.ts'
import type { RunStore } from '../ports/run-store.ts'
import { Journal, type JournalOptions, readJournal } from './journal.ts'

const KEY = { id: 'k', bytes: new Uint8Array(32).fill(7) }

function optionsOf(store: RunStore, keyed = true): JournalOptions {
  const keys = keyed ? { mac: { current: KEY } } : {}
  return { store, run: 'r', tenant: 't', sealing: { ports: nodeCheckpointPorts, keys } }
}

async function written(store: RunStore, records: readonly unknown[], keyed = true): Promise<void> {
  const lease = await store.lease('r', 10_000)
  const journal = await Journal.open(optionsOf(store, keyed), lease, () => {})
  for (const record of records) journal.add(record)
  await journal.flush()
  await lease.release()
}

async function read(store: RunStore, keyed = true): Promise<unknown[]> {
  const records: unknown[] = []
  await readJournal(optionsOf(store, keyed), (record) => records.push(record))
  return records
}

/** The same store, in which entry `at` reads as `change` makes it. */
function changed(store: RunStore, at: number, change: (bytes: Uint8Array) => Uint8Array): RunStore {
  return {
    ...store,
    entries: async (run, from, most) =>
      (await store.entries(run, from, most)).map((entry, i) => (from + i === at ? change(entry) : entry)),
  }
}

describe('a journal', () => {
  const records = [
    { type: 'a', n: 1 },
    { type: 'b', value: new Map([[1, 2n]]) },
    { type: 'c', at: Number.NaN },
  ]

  it('gives its records in the order in which they were added', async () => {
    const store = createMemoryRunStore()
    await written(store, records)
    expect(await read(store)).toEqual(records)
  })

  it('is written on where it ends', async () => {
    const store = createMemoryRunStore()
    await written(store, records.slice(0, 1))
    await written(store, records.slice(1))
    expect(await read(store)).toEqual(records)
  })

  it('writes what is added in one turn of the host with one write', async () => {
    const store = createMemoryRunStore()
    let writes = 0
    const counting: RunStore = {
      ...store,
      append: (...args) => {
        writes += 1
        return store.append(...args)
      },
      entries: (...args) => store.entries(...args),
    }
    const lease = await store.lease('r', 10_000)
    const journal = await Journal.open(optionsOf(counting), lease, () => {})
    const flushes = records.map((record) => {
      journal.add(record)
      return journal.flush()
    })
    await Promise.all(flushes)
    expect(writes).toBe(1)
  })

  it('takes a record as it was when it was added', async () => {
    const store = createMemoryRunStore()
    const lease = await store.lease('r', 10_000)
    const journal = await Journal.open(optionsOf(store), lease, () => {})
    const record = { n: 1 }
    journal.add(record)
    record.n = 2
    await journal.flush()
    expect(await read(store)).toEqual([{ n: 1 }])
  })

  it.each([true, false])('is refused when any byte of it was changed (with a key: %s)', async (keyed) => {
    const store = createMemoryRunStore()
    await written(store, records, keyed)
    const sealed = (await store.entries('r', 0, 10))[1] as Uint8Array
    for (let i = 0; i < sealed.length; i += 1) {
      const flipped = changed(store, 1, (bytes) => bytes.map((byte, at) => (at === i ? byte ^ 1 : byte)))
      await expect(read(flipped, keyed)).rejects.toMatchObject({ brand: 'caisson.error' })
    }
  })

  it('is refused when records are turned round, missing, or of another run', async () => {
    const store = createMemoryRunStore()
    await written(store, records)
    const all = await store.entries('r', 0, 10)
    const other = async (entries: readonly (Uint8Array | undefined)[]): Promise<unknown> =>
      read({ ...store, entries: async () => entries as Uint8Array[] })
    await expect(other([all[1], all[0], all[2]])).rejects.toMatchObject({ code: 'checkpoint_refused' })
    await expect(other([all[0], all[2]])).rejects.toMatchObject({ code: 'corrupted' })
    await expect(readJournal({ ...optionsOf(store), tenant: 'else' }, () => {})).rejects.toMatchObject({
      code: 'checkpoint_refused',
    })
  })

  it('writes nothing more after a write failed', async () => {
    const store = createMemoryRunStore()
    let broken = false
    const failing: RunStore = {
      ...store,
      entries: (...args) => store.entries(...args),
      append: async (...args) => {
        if (broken) throw new Error('no')
        await store.append(...args)
      },
    }
    const lease = await store.lease('r', 10_000)
    const journal = await Journal.open(optionsOf(failing), lease, () => {})
    journal.add(1)
    await journal.flush()
    broken = true
    journal.add(2)
    await expect(journal.flush()).rejects.toMatchObject({ code: 'store_failed' })
    broken = false
    journal.add(3)
    await expect(journal.flush()).rejects.toMatchObject({ code: 'store_failed' })
    expect(await read(store)).toEqual([1])
  })
})
