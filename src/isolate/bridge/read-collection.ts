/**
 * Map and Set.
 *
 * A host's own Map hashes numbers and BigInts without a secret, so a guest could choose keys that all fall
 * into one bucket: 60,000 such integers keep V8 busy for five seconds. so that is charged as work of the host.
 *
 * Invariants
 * 1. The list of records ends: each one is charged, and their number must be what the map says.
 * 2. Keys that could collide on purpose are bounded by the time that they could take, not by their number.
 */
import { MAP_RECORD, MAP_STATE, OBJECT } from './heap-layout.ts'
import { corrupted } from './heap-memory.ts'
import type { HeapReading, Owner } from './heap-reading.ts'

/** What one comparison costs before it looks at the key's digits, in words. */
const COMPARE_COST = 8
/** Integers in a range of at most this many times their number are dense enough to spread over the buckets. */
const DENSE = 64

export function fillMap(walk: HeapReading, word: number, target: Map<unknown, unknown>, owner: Owner): void {
  const keys: unknown[] = []
  const values: unknown[] = []
  eachRecord(walk, word, (record, i) => {
    walk.meter.addNodes(2)
    keys.push(walk.value(record + MAP_RECORD.keyWord, owner, 2 * i))
    values.push(walk.value(record + MAP_RECORD.valueWord, owner, 2 * i + 1))
  })
  chargeKeys(walk, keys, owner)
  for (let i = 0; i < keys.length; i += 1) target.set(keys[i], values[i])
}

export function fillSet(walk: HeapReading, word: number, target: Set<unknown>, owner: Owner): void {
  const keys: unknown[] = []
  eachRecord(walk, word, (record, i) => {
    walk.meter.addNodes(1)
    keys.push(walk.value(record + MAP_RECORD.keyWord, owner, i))
  })
  chargeKeys(walk, keys, owner)
  for (const key of keys) target.add(key)
}

/** Calls `visit` with the word of each record, in insertion order. */
export function eachRecord(
  walk: Pick<HeapReading, 'memory' | 'meter'>,
  word: number,
  visit: (record: number, i: number) => void,
): void {
  const { memory, meter } = walk
  const { u32 } = memory
  const statePointer = u32[word + OBJECT.dataWord] as number
  const state = memory.block(statePointer, MAP_STATE.size, 'a Map')
  const count = u32[state + MAP_STATE.countWord] as number
  const end = statePointer + MAP_STATE.head
  let found = 0
  for (let link = u32[state + MAP_STATE.nextWord] as number; link !== end; ) {
    meter.addSteps(1)
    const record = memory.block(link - MAP_RECORD.link, MAP_RECORD.size, 'an entry of a Map')
    if (((u32[record + MAP_RECORD.emptyWord] as number) & MAP_RECORD.emptyMask) === 0) {
      if (found >= count) throw corrupted('a Map has more entries than its size')
      visit(record, found)
      found += 1
    }
    link = u32[record + MAP_RECORD.nextWord] as number
  }
  if (found !== count) throw corrupted('a Map has fewer entries than its size')
}

function chargeKeys(walk: HeapReading, keys: readonly unknown[], owner: Owner): void {
  let scattered = 0
  let words = 0
  let integers = 0
  let least = Number.POSITIVE_INFINITY
  let most = Number.NEGATIVE_INFINITY
  for (const key of keys) {
    if (typeof key === 'number') {
      if ((key | 0) === key) {
        integers += 1
        if (key < least) least = key
        if (key > most) most = key
      } else {
        scattered += 1
        words += 1
      }
    } else if (typeof key === 'bigint') {
      scattered += 1
      words += bigIntWords(key)
    }
  }
  if (most - least >= integers * DENSE) {
    scattered += integers
    words += integers
  }
  if (!walk.meter.addHostWork((scattered * (words + scattered * COMPARE_COST)) / 2)) {
    walk.refuseContainer('a Map or Set with too many scattered numbers as keys', owner)
  }
}

/** About how many 64-bit digits `value` has, without writing them out. */
function bigIntWords(value: bigint): number {
  if (BigInt.asIntN(64, value) === value) return 1
  let words = 2
  while (BigInt.asIntN(64 * words, value) !== value) words *= 2
  return words
}
