/**
 * A guest that can write anywhere in its own memory: the words around a large value are changed, and the host
 * reads it all the same. The short and the long test differ only in the number of rounds.
 */
import { expect } from 'vitest'
import { CaissonError } from '../../src/base/errors.ts'
import { TestGuest } from '../../src/isolate/bridge/bridge.testkit.ts'
import { seededNumbers } from '../seeded-random.ts'

/** One value of every kind that crosses. */
const SOURCE = `(() => {
  const shared = {deep: [[[1, "two", 3.5]]], when: new Date(5)}
  const holes = [1, , shared]; holes.extra = "x"
  const object = {shared, again: shared, holes, map: new Map([[shared, 1], ["k", new Set([1, 2n ** 100n])]]),
    bytes: new Uint8Array([1, 2, 3]), view: new DataView(new ArrayBuffer(9), 1), floats: new Float64Array(4),
    error: new TypeError("message", {cause: new Error("cause")}), regexp: /a[b-c]+/giu, boxed: Object("s"),
    rope: "r".repeat(9000) + "s".repeat(9000), wide: "\\u65e5\\u672c\\ud800", args: (function () { return arguments })(1, 2)}
  object.self = object
  return object
})()`

const LIMITS = { bytes: 200_000, nodes: 5000, depth: 50 }
/** How a read may end. */
const CONTAINED = ['nothing', 'corrupted', 'value_refused', 'value_too_large', 'value_too_deep']
const EXTREMES = [0, 1, 7, 8, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 0xffff_fff8, 0x3fff_ffff]

/** What one round may change: the words from `low` up to `high`. */
interface Target {
  readonly words: Uint32Array
  readonly low: number
  readonly high: number
}

interface Corruption {
  /** Words changed in one round. */
  readonly changes: number
  /** What becomes of the word at `at`. */
  readonly replacement: (random: () => number, target: Target, at: number) => number
}

export type CorruptionKind = 'flipped bits' | 'foreign words'

const CORRUPTIONS: Readonly<Record<CorruptionKind, Corruption>> = {
  'flipped bits': {
    changes: 40,
    replacement: (random, { words }, at) => ((words[at] as number) ^ (1 << (random() % 32))) >>> 0,
  },
  /** Other words of the heap, lengths and extremes, addresses that look right. */
  'foreign words': {
    changes: 20,
    replacement: (random, { words, low, high }) => {
      const choice = random() % 3
      if (choice === 0) return words[low + (random() % (high - low))] as number
      if (choice === 1) return EXTREMES[random() % EXTREMES.length] as number
      return (low * 4 + (random() % ((high - low) * 4))) & ~7
    },
  },
}

/** Corrupts the heap `rounds` times and expects every read to end soon, in a value or a typed error. */
export function expectCorruptionContained(kind: CorruptionKind, rounds: number): void {
  const guest = new TestGuest()
  const cell = guest.cell(SOURCE)
  const words = new Uint32Array(guest.memory.buffer)
  // The graph was allocated last: most of it lies around its root.
  const root = words[cell >>> 2] as number
  const target = { words, low: (root - 60_000) >>> 2, high: (root + 120_000) >>> 2 }
  const random = seededNumbers(0xc0ffee)
  const codes = new Map<string, number>()
  let slowest = 0
  for (let round = 0; round < rounds; round += 1) {
    const undo = corrupt(CORRUPTIONS[kind], random, target)
    const start = performance.now()
    const code = codeOf(() => guest.reader.read(cell, LIMITS))
    if (round % 5 === 0) {
      codeOf(() => guest.reader.readError(cell))
      codeOf(() => guest.reader.inspect(cell))
    }
    slowest = Math.max(slowest, performance.now() - start)
    codes.set(code, (codes.get(code) ?? 0) + 1)
    for (const [at, value] of undo.reverse()) words[at] = value
  }
  expect(codeOf(() => guest.reader.read(cell, LIMITS))).toBe('nothing')
  expect([...codes.keys()].filter((code) => !CONTAINED.includes(code))).toEqual([])
  // That the attack reaches what is read at all.
  expect(codes.get('corrupted') ?? 0).toBeGreaterThan(rounds / 100)
  expect(slowest).toBeLessThan(2000)
}

/** Changes words; returns what they were, in that order. */
function corrupt(
  { changes, replacement }: Corruption,
  random: () => number,
  target: Target,
): [number, number][] {
  const { words, low, high } = target
  const undo: [number, number][] = []
  for (let i = 0; i < changes; i += 1) {
    const at = low + (random() % (high - low))
    undo.push([at, words[at] as number])
    words[at] = replacement(random, target, at)
  }
  return undo
}

/** How a read ended: the code of its error, or `nothing`. */
export function codeOf(act: () => unknown): string {
  try {
    act()
    return 'nothing'
  } catch (error) {
    if (CaissonError.is(error)) return error.code
    throw error
  }
}
