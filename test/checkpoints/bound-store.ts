/** A store's methods as functions of their own, so that a test can replace some of them. */
import type { RunStore } from '../../src/ports/run-store.ts'

export function boundStore(store: RunStore): RunStore {
  return {
    putBlob: (id, bytes) => store.putBlob(id, bytes),
    getBlob: (id) => store.getBlob(id),
    head: (run) => store.head(run),
    setHead: (run, head, lease) => store.setHead(run, head, lease),
    append: (run, at, entries, lease) => store.append(run, at, entries, lease),
    entries: (run, from, most) => store.entries(run, from, most),
    lease: (run, ttl) => store.lease(run, ttl),
    runs: () => store.runs(),
    remove: (run, lease) => store.remove(run, lease),
    collect: (options) => store.collect(options),
    close: () => store.close(),
  }
}
