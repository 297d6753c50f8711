// Two caches that forget what was used longest ago: a linked list with a Map, and a Map in insertion order.
class Entry {
  #value
  constructor(key, value) {
    this.key = key
    this.#value = value
    this.before = undefined
    this.after = undefined
  }
  get value() {
    return this.#value
  }
  set value(value) {
    this.#value = value
  }
}

class ListCache {
  constructor(size) {
    this.size = size
    this.entries = new Map()
    this.newest = undefined
    this.oldest = undefined
  }
  get(key) {
    const entry = this.entries.get(key)
    if (entry === undefined) return undefined
    this.#unlink(entry)
    this.#link(entry)
    return entry.value
  }
  set(key, value) {
    let entry = this.entries.get(key)
    if (entry === undefined) {
      entry = new Entry(key, value)
      this.entries.set(key, entry)
    } else {
      entry.value = value
      this.#unlink(entry)
    }
    this.#link(entry)
    if (this.entries.size > this.size) {
      const { oldest } = this
      this.#unlink(oldest)
      this.entries.delete(oldest.key)
    }
  }
  #link(entry) {
    entry.after = this.newest
    entry.before = undefined
    if (this.newest !== undefined) this.newest.before = entry
    this.newest = entry
    this.oldest ??= entry
  }
  #unlink(entry) {
    if (entry.before === undefined) this.newest = entry.after
    else entry.before.after = entry.after
    if (entry.after === undefined) this.oldest = entry.before
    else entry.after.before = entry.before
  }
}

class MapCache extends Map {
  constructor(limit) {
    super()
    this.limit = limit
  }
  get(key) {
    const value = super.get(key)
    if (value !== undefined) {
      super.delete(key)
      super.set(key, value)
    }
    return value
  }
  set(key, value) {
    super.delete(key)
    super.set(key, value)
    if (this.size > this.limit) super.delete(this.keys().next().value)
    return this
  }
}

function exercise(cache) {
  let state = 42
  let hits = 0
  for (let i = 0; i < 12000; i++) {
    state = (state * 1664525 + 1013904223) % 4294967296
    const key = `user:${(state >>> 16) % 700}`
    const known = cache.get(key)
    if (known === undefined) cache.set(key, { id: i, uses: 1 })
    else hits += known.uses++
  }
  return hits
}

globalThis.run = () => `${exercise(new ListCache(400))} ${exercise(new MapCache(400))}`
