/**
 * Attacks on the sweep of freed memory: a guest that took its engine over writes into its own allocator what it
 * likes, and the host walks through it at the end of every turn.
 */
import { afterAll, describe, expect, it } from 'vitest'
import { ALLOCATOR, CHUNK, FIRST_LARGE_BIN } from '../../src/isolate/allocator-layout.ts'
import { SteppedRun } from '../../src/isolate/heap-sweep.testkit.ts'
import { sweepFreed } from '../../src/isolate/heap-sweep.ts'
import { engine, openPool } from '../../src/isolate/isolate.testkit.ts'
import { seededNumbers } from '../seeded-random.ts'

const { stackBase, heapEndAddress } = engine.layout
const pool = openPool()
afterAll(() => pool.close())

/** Frees chunks of many sizes, some of them equal, between what stays. */
const guest = new SteppedRun(
  `let all = Array.from({ length: 400 }, (_, i) => [new Uint8Array(4200 + (i % 90) * 40).fill(i | 1), { i }])
   const kept = all.map((pair) => pair[1])
   all = 0
   await world.ask()`,
  pool,
)
const { bytes, words } = guest.pooled.instance

const state = (word: number): number => (ALLOCATOR.address >>> 2) + word
const field = (chunk: number, word: number): number => (chunk >>> 2) + word
const top = words[state(ALLOCATOR.topWord)] ?? 0

/** Chunks of at least a page that are free, and others. What is free is full of dead bytes again. */
const free: number[] = []
const others: number[] = [top]
for (let chunk = stackBase; chunk < top; ) {
  const head = words[field(chunk, CHUNK.headWord)] ?? 0
  const size = head & ~CHUNK.flagsMask
  if (size > 4_096 && (head & CHUNK.flagsMask) === CHUNK.previousInUse) {
    free.push(chunk)
    bytes.fill(0xee, chunk + CHUNK.headerBytes, chunk + size)
  } else others.push(chunk)
  chunk += size
}
const memory = bytes.slice()
const before = new Uint32Array(memory.buffer)

type Change = readonly [word: number, value: number]

/** Sweeps the memory with some words changed, all of which is in the heap or the allocator's state. */
function sweepWith(changes: readonly Change[]): { readonly fuel: number; readonly tookMs: number } {
  bytes.set(memory)
  for (const [word, value] of changes) words[word] = value
  const outside = bytes.slice(0, stackBase)
  const start = performance.now()
  const fuel = sweepFreed(guest.pooled.instance)
  const tookMs = performance.now() - start
  expect(Buffer.compare(bytes.subarray(0, stackBase), outside)).toBe(0)
  expect(Number.isSafeInteger(fuel) && fuel >= 0).toBe(true)
  return { fuel, tookMs }
}

/** Whether the sweep that was just made of that changed anything. */
function changedAnything(changes: readonly Change[]): boolean {
  const swept = bytes.slice()
  bytes.set(memory)
  for (const [word, value] of changes) words[word] = value
  return Buffer.compare(swept, bytes) !== 0
}

const headOf = (chunk: number): number => before[field(chunk, CHUNK.headWord)] ?? 0
const sizeOf = (chunk: number): number => headOf(chunk) & ~CHUNK.flagsMask
const childOf = (chunk: number): number =>
  before[field(chunk, CHUNK.leftWord)] || before[field(chunk, CHUNK.rightWord)] || 0
/** Of a tree that has more than it. */
const root =
  Array.from(
    { length: ALLOCATOR.treeBins - FIRST_LARGE_BIN },
    (_, i) => before[state(ALLOCATOR.treeBinsWord + FIRST_LARGE_BIN + i)] ?? 0,
  ).find((chunk) => chunk !== 0 && childOf(chunk) !== 0) ?? 0
const last = free.filter((chunk) => chunk !== root).at(-1) ?? 0

/** A chunk that looks free and closes the ring of `root`, forged at any address: what links are changed to lead to. */
const forgedAt = (chunk: number, size = 8_192): Change[] => [
  [field(chunk, CHUNK.headWord), size | CHUNK.previousInUse],
  [field(chunk, CHUNK.forwardWord), root],
  [field(chunk + size, CHUNK.previousSizeWord), size],
  [field(chunk + size, CHUNK.headWord), 18],
]

describe('a guest that writes into its allocator', () => {
  it('is swept while it does not', () => {
    expect(free.length).toBeGreaterThan(100)
    sweepWith([])
    expect(changedAnything([])).toBe(true)
  })

  const link = field(root, CHUNK.forwardWord)
  it.each<[string, readonly Change[]]>([
    ['a size that its neighbour does not confirm', [[field(last + sizeOf(last), 0), sizeOf(last) + 8]]],
    ['a free chunk that its neighbour calls used', [[field(last + sizeOf(last), CHUNK.headWord), 0x1003]]],
    ['a chunk in use among the free ones', [[field(last, CHUNK.headWord), headOf(last) | 2]]],
    ['a chunk longer than the heap', [[field(last, CHUNK.headWord), 0xffff_fff9]]],
    ['a chunk of no size', [[field(last, CHUNK.headWord), 1]]],
    ['a link out of the memory', [[link, 0xffff_fff8]]],
    ['a link to nothing', [[link, 0]]],
    ['a link between words', [[link, last + 4]]],
    ['a link into the static data', [[link, 40_960], ...forgedAt(40_960)]],
    ['a link into the stack', [[link, stackBase - 81_920], ...forgedAt(stackBase - 81_920)]],
    ['a link to the middle of a chunk', [[link, last + 64]]],
    [
      'a ring that never closes',
      [
        [link, last],
        [field(last, CHUNK.forwardWord), last],
      ],
    ],
    ['a tree that is its own child', [[field(root, CHUNK.leftWord), root]]],
    ['a tree below its own child', [[field(childOf(root), CHUNK.leftWord), root]]],
    ['another size of the topmost chunk', [[state(ALLOCATOR.topSizeWord), 0x7fff_fff8]]],
    [
      'a topmost chunk elsewhere',
      [
        [state(ALLOCATOR.topWord), 0xffff_fff0],
        [state(ALLOCATOR.topSizeWord), 8_192],
      ],
    ],
    ['a heap that ends before it begins', [[heapEndAddress >>> 2, 8]]],
  ])('is left alone: %s', (_, changes) => {
    sweepWith(changes)
    expect(changedAnything(changes)).toBe(false)
  })

  it('is swept inside of its memory when it says that its heap is longer', () => {
    const changes: readonly Change[] = [[heapEndAddress >>> 2, 0xffff_ffff]]
    sweepWith(changes)
    expect(changedAnything(changes)).toBe(true)
  })

  it('pays for what is looked at in vain', () => {
    const { fuel } = sweepWith([[field(last, CHUNK.headWord), 1]])
    expect(fuel).toBeGreaterThan(sweepWith([[state(ALLOCATOR.topSizeWord), 0x7fff_fff8]]).fuel)
  })

  it('ends soon and alike, whatever was changed', () => {
    const random = seededNumbers(0xdead)
    const among = <T>(list: readonly T[]): T => list[random() % list.length] as T
    const chunk = (): number => (random() % 4 === 0 ? among(others) : among(free))
    const places: readonly (() => number)[] = [
      () => field(chunk(), random() % 8),
      () => field(chunk() + sizeOf(chunk()), random() % 2),
      () => state(random() % (ALLOCATOR.treeBinsWord + ALLOCATOR.treeBins)),
      () => state(ALLOCATOR.treeBinsWord + FIRST_LARGE_BIN + (random() % 24)),
      () => heapEndAddress >>> 2,
    ]
    const values: readonly ((word: number) => number)[] = [
      (word) => ((before[word] ?? 0) ^ (1 << (random() % 32))) >>> 0,
      chunk,
      () => sizeOf(chunk()) | (random() % 4),
      () => among([0, 1, 2, 3, 7, 8, 0x1001, 0x7fff_fff9, 0x8000_0001, 0xffff_ffff, 0xffff_fff9]),
      () => chunk() + 8 * (random() % 600),
    ]
    let slowest = 0
    let swept = 0
    let refused = 0
    for (let round = 0; round < 800; round += 1) {
      const changes = Array.from({ length: 1 + (random() % 12) }, (): Change => {
        const word = among(places)()
        return [word, among(values)(word)]
      }).filter(([word]) => word < words.length)
      const end = sweepWith(changes)
      slowest = Math.max(slowest, end.tookMs)
      if (free.some((one) => bytes[one + sizeOf(one) - 9] === 0)) swept += 1
      else refused += 1
      if (round % 20 === 0) {
        const after = bytes.slice()
        expect(sweepWith(changes).fuel).toBe(end.fuel)
        expect(Buffer.compare(bytes, after)).toBe(0)
      }
    }
    expect(slowest).toBeLessThan(2_000)
    // That both were reached.
    expect(swept).toBeGreaterThan(50)
    expect(refused).toBeGreaterThan(50)
  })

  it('ends like any other guest, or goes on: nothing of the host fails', () => {
    const random = seededNumbers(0xbeef)
    for (let round = 0; round < 60; round += 1) {
      const run = new SteppedRun(
        `let a = Array.from({ length: 300 }, (_, i) => new Uint8Array(5000 + i * 8).fill(1))
         for (let i = 0; i < 4; i++) { a = a.filter((_, k) => k % 2); await world.ask() }
         return a.length`,
        pool,
      )
      const own = run.pooled.instance.words
      for (let i = 0; i < 3; i += 1) {
        const word = random() % 2 ? random() % (own.length >>> 1) : state(random() % 110)
        own[word] = random() % 2 ? random() : ((own[word] ?? 0) ^ (1 << (random() % 32))) >>> 0
      }
      for (let i = 0; i < 4 && run.waiting; i += 1) run.step()
      expect(['waiting', 'completed', 'failed', 'exhausted']).toContain(run.turn.status)
      run.close()
    }
  })
})
