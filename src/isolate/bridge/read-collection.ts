/**
 * Map and Set.
 *
 * Invariants
 * 1. The list of records ends: each one is charged, and their number must be what the map says.
 * 2. Keys are charged as work of the host (`host-work.ts`) before the host's own Map sees them.
 */
import { keysWork } from '../../values/host-work.ts'
import { MAP_RECORD, MAP_STATE, OBJECT } from './heap-layout.ts'
import { corrupted } from './heap-memory.ts'
import type { HeapReading, Owner } from './heap-reading.ts'

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
  if (!walk.meter.addHostWork(keysWork(keys))) {
    walk.refuseContainer('a Map or Set with too many scattered numbers as keys', owner)
  }
}
