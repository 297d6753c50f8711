/** A store that tells of every checkpoint that it acknowledged. */
import type { RunStore } from '../../src/entry/node.ts'

/** @param told gets the size of the checkpoint in bytes, when the head of the run names it */
export function watchedStore(store: RunStore, told: (bytes: number) => void): RunStore {
  const sizes = new Map<string, number>()
  let newest: string | undefined
  const putBlob: RunStore['putBlob'] = async (id, bytes) => {
    await store.putBlob(id, bytes)
    sizes.set(id, bytes.length)
  }
  const setHead: RunStore['setHead'] = async (run, head, lease) => {
    await store.setHead(run, head, lease)
    const [id] = head.chain
    if (id === undefined || id === newest) return
    newest = id
    told(sizes.get(id) ?? 0)
  }
  const watched: Partial<RunStore> = { putBlob, setHead }
  return new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(name in watched ? watched : target, name)
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
}

/** The same store, but for one byte in the middle of an entry of a run. */
export function withChangedByte(store: RunStore, run: string, at: number): RunStore {
  const entries: RunStore['entries'] = async (name, from, most) => {
    const found = await store.entries(name, from, most)
    return found.map((entry, i) => {
      if (name !== run || from + i !== at) return entry
      const changed = entry.slice()
      const middle = Math.floor(changed.length / 2)
      changed[middle] = (changed[middle] ?? 0) ^ 1
      return changed
    })
  }
  return new Proxy(store, {
    get(target, name) {
      const member: unknown = name === 'entries' ? entries : Reflect.get(target, name)
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
}
