/**
 * A guest whose engine was taken over: words all over its memory are changed, between its turns and inside sync
 * calls, and the host goes on as if nothing had happened. The short and the long test differ only in the number
 * of rounds.
 */
import { expect } from 'vitest'
import { CaissonError } from '../../src/base/errors.ts'
import type { PooledInstance } from '../../src/isolate/instance-pool.ts'
import { engine, newIsolate, openPool, startOf } from '../../src/isolate/isolate.testkit.ts'
import { Isolate } from '../../src/isolate/isolate.ts'
import type { Answer, PendingCall, Turn } from '../../src/machine/turn.ts'
import { seededNumbers } from '../seeded-random.ts'

/** Uses every kind of value and object, logs, rejects, and asks sync and awaited calls over several turns. */
const PROGRAM = `
  const keep = { m: new Map([[1, { a: 1 }], ['k', new Set([1, 2n ** 80n])]]), e: new TypeError('x', { cause: 1 }),
    r: /a+b/g, d: new Date(5), b: new Uint8Array(40), s: 'r'.repeat(300) + 'q', c: [1, , 3] }
  class K { #p = 1; get p() { return this.#p } }
  console.log(keep, new K().p)
  for (let i = 0; i < 6; i++) {
    const got = [tools.sync(keep), await tools.echo({ i, keep }),
      await Promise.all([tools.echo([i]), tools.sync(i), tools.echo('z'.repeat(i * 50))])]
    keep.last = got
    console.log(i, got)
    if (i === 3) Promise.reject(new Error('rejected'))
  }
  return keep`

const ANSWERS: readonly (() => unknown)[] = [
  () => 1,
  () => 'text',
  () => ({ a: [1, { b: new Map([[1, 2]]) }] }),
  () => new Error('e'),
  () => new Uint8Array(100),
  () => {
    const cycle: { self?: unknown } = {}
    cycle.self = cycle
    return cycle
  },
  () => Array.from({ length: 50 }, (_, i) => ({ i })),
  () => undefined,
  () => 10n ** 40n,
]

const LIMITS = { memoryBytes: 16 * 1024 * 1024, fuel: 60_000_000, wallMs: 2_000 }
/** Generous, for loaded machines: what is unbounded takes minutes. */
const ROUND_MS = 20_000

/** Runs `rounds` guests that are corrupted in ways that follow from `seed`. */
export function corruptGuests(rounds: number, seed: number): void {
  const pool = openPool(() => performance.now())
  for (let round = seed; round < seed + rounds; round += 1) {
    const began = performance.now()
    const end = corruptGuest(pool.acquire(), seededNumbers(round))
    const where = `round ${round}`
    expect([where, performance.now() - began < ROUND_MS]).toEqual([where, true])
    expect([where, end]).toEqual([where, expect.stringMatching(/^(waiting|completed|failed|exhausted)$/)])
    if (round % 200 === 0) {
      const neighbour = newIsolate(pool)
      expect(neighbour.start(startOf('1 + 2'), control())).toMatchObject({ status: 'completed', value: 3 })
      neighbour.dispose()
    }
  }
}

const control = (): { deadline: number } => ({ deadline: performance.now() + LIMITS.wallMs })

/** How the guest ended; the name and stack of what was thrown where something was, which must not be. */
function corruptGuest(pooled: PooledInstance, random: () => number): string {
  const corrupt = corrupter(pooled, random)
  const inSync = random() % 2 === 0
  const pick = (): unknown => (ANSWERS[random() % ANSWERS.length] as () => unknown)()
  const isolate = new Isolate(pooled, {
    call() {
      if (inSync) corrupt()
      return pick()
    },
  })
  const answer = ({ id }: PendingCall): Answer =>
    random() % 4 === 0
      ? { id, ok: false, error: { code: 'denied', message: 'no' } }
      : { id, ok: true, value: pick() }
  try {
    const start = startOf(PROGRAM, { capabilities: ['!tools.sync', 'tools.echo'], limits: LIMITS })
    let turn: Turn = isolate.start(start, control())
    for (let n = 0; n < 20 && turn.status === 'waiting' && isolate.pending.length > 0; n += 1) {
      corrupt()
      const { pending } = isolate
      turn = isolate.settle(
        pending.slice(0, 1 + (random() % pending.length)).map(answer),
        start.nowMs + n,
        control(),
      )
    }
    if (random() % 16 === 0) isolate.stateDigest()
    return turn.status
  } catch (error) {
    return `thrown: ${CaissonError.is(error) ? error.code : ''} ${String((error as Error).stack)}`
  } finally {
    isolate.dispose()
  }
}

/** Changes one to a hundred words: anywhere, or in the static data, the heap or its busiest part. */
function corrupter({ instance }: PooledInstance, random: () => number): () => void {
  const { stackBase, stackEnd } = engine.layout
  const heap = stackBase >>> 2
  const places: readonly (() => number)[] = [
    () => random() % (instance.memory.buffer.byteLength >>> 2),
    () => random() % (stackEnd >>> 2),
    () => heap + (random() % 20_000),
    () => heap + (random() % 60_000),
    () => heap + (random() % 100_000),
  ]
  const place = places[random() % places.length] as () => number
  const count = [1, 1, 3, 10, 100][random() % 5] as number
  return () => {
    const words = new Uint32Array(instance.memory.buffer)
    for (let i = 0; i < count; i += 1) {
      const at = place()
      words[at] = replacement(words, at, random)
    }
  }
}

function replacement(words: Uint32Array, at: number, random: () => number): number {
  const old = words[at] as number
  switch (random() % 7) {
    case 0:
      return random()
    case 1:
      return (old ^ (1 << (random() % 32))) >>> 0
    case 2:
      return words[random() % words.length] as number
    case 3:
      return 0xffff_ffff
    case 4:
      return 0
    case 5:
      return (old + (random() % 64) - 32) >>> 0
    default:
      // An address that looks right.
      return (engine.layout.stackBase + (random() % 430_000)) & ~7
  }
}
