import { afterAll, describe, expect, it, vi } from 'vitest'
import type { PendingCall, Turn } from '../machine/turn.ts'
import { PageTree } from '../snapshot/page-tree.ts'
import { EngineInstance } from './engine-instance.ts'
import { answerTo, EVERY_FEATURE, EVERY_FEATURE_GRANTS } from './every-feature.testkit.ts'
import type { InstancePool } from './instance-pool.ts'
import { base, engine, FREELY, openPool, startOf } from './isolate.testkit.ts'
import { ParkableIsolate } from './parkable-isolate.ts'
import { Residents } from './residents.ts'

const pool = openPool()
afterAll(() => pool.close())

const start = startOf(EVERY_FEATURE, { capabilities: EVERY_FEATURE_GRANTS })
const begin = Date.UTC(2026, 0, 1)
const syncCalls = { call: () => undefined }

const open = (residents = new Residents(100)): ParkableIsolate =>
  new ParkableIsolate({ pool, residents, syncCalls })

const step = (guest: ParkableIsolate, time: number): Turn => {
  const [call] = guest.pending
  if (call === undefined) throw new Error('stalled')
  return guest.settle([answerTo(call)], begin + time, FREELY)
}

/** Runs guests to their ends, a step of each in turn, and disposes them; what they came to. */
const runTogether = (
  guests: readonly ParkableIsolate[],
  after: (guest: ParkableIsolate) => void = () => {},
) => {
  const ends: { readonly turn: Turn; readonly digest: string }[] = []
  const look = (guest: ParkableIsolate, turn: Turn): void => {
    after(guest)
    if (turn.status === 'waiting') return
    ends.push({ turn, digest: guest.stateDigest() })
    guest.dispose()
  }
  for (const guest of guests) look(guest, guest.start(start, FREELY))
  for (let time = 1; ends.length < guests.length; time += 1) {
    for (const guest of guests) if (guest.pending.length > 0) look(guest, step(guest, time))
  }
  return ends
}

/** The digest of a guest that was never parked, after so many answers. */
const digestAfter = (answers: number): string => {
  const guest = open()
  guest.start(start, FREELY)
  for (let time = 1; time <= answers; time += 1) step(guest, time)
  const digest = guest.stateDigest()
  guest.dispose()
  return digest
}

describe('a parkable isolate', () => {
  const straight = runTogether([open()])[0]

  it('1: ends the same when it is parked after every turn', () => {
    expect(straight?.turn.status).toBe('completed')
    expect(runTogether([open()], (guest) => guest.park())).toEqual([straight])
  })

  it('1: lives with many others on two instances', () => {
    const residents = new Residents(2)
    const guests = Array.from({ length: 20 }, () => open(residents))
    expect(runTogether(guests, () => expect(residents.count).toBeLessThanOrEqual(2))).toEqual(
      guests.map(() => straight),
    )
    expect(residents.count).toBe(0)
  })

  it('leaves an instance whose every byte is that of the base image when it is parked', () => {
    const own = openPool()
    const secret = 'correct-horse-battery-staple'
    const guest = new ParkableIsolate({ pool: own, residents: new Residents(1), syncCalls })
    const deep = 'const deep = (n) => n === 0 ? 0 : 1 + deep(n - 1); deep(200)'
    const kept = 'globalThis.kept = []; for (let i = 0; i < 80; i++) kept.push(input.repeat(60) + i)'
    guest.start(
      { ...startOf(`${kept}; ${deep}; await ask(1)`, { capabilities: ['ask'] }), input: secret },
      FREELY,
    )
    expect(guest.parkable).toBe(true)
    guest.park()
    const again = own.acquire().instance
    const fresh = new EngineInstance(engine, 4_096, () => 0)
    base.restore(fresh)
    expect(Buffer.compare(again.bytes, fresh.bytes)).toBe(0)
    expect(Buffer.from(again.bytes).includes(secret)).toBe(false)
  })

  it('goes into the instance of the guest that is parked for it, of which nothing is left there', () => {
    const own = openPool()
    const secret = 'correct-horse-battery-staple'
    const residents = new Residents(1)
    const openOwn = (): ParkableIsolate => new ParkableIsolate({ pool: own, residents, syncCalls })
    const [first, second, third] = [openOwn(), openOwn(), openOwn()]
    const kept = 'globalThis.kept = []; for (let i = 0; i < 80; i++) kept.push(input.repeat(60) + i)'
    const asking = startOf(
      `${kept}; const deep = (n) => n && 1 + deep(n - 1); deep(200); await ask(1); return 7`,
      {
        capabilities: ['ask'],
      },
    )
    first.start(start, FREELY)
    second.start({ ...asking, input: secret }, FREELY)
    const served = vi.spyOn(EngineInstance.prototype, 'serve')
    step(first, 1)
    third.start(start, FREELY)
    const instances = served.mock.contexts as EngineInstance[]
    served.mockRestore()
    expect(new Set(instances).size).toBe(1)
    const bytes = Buffer.from((instances[0] as EngineInstance).bytes)
    expect(bytes.includes(secret)).toBe(false)
    third.park()
    first.settle([answerTo(first.pending[0] as PendingCall)], begin + 2, FREELY)
    expect(first.stateDigest()).toBe(digestAfter(2))
    expect(second.settle([{ id: 1, ok: true, value: 0 }], begin, FREELY)).toMatchObject({ value: 7 })
    for (const guest of [first, second, third]) guest.dispose()
  })

  it('goes into no instance of another pool, nor into one that grew', () => {
    const residents = new Residents(1)
    const pools = [openPool(), openPool()]
    const [small, elsewhere] = pools.map((one) => new ParkableIsolate({ pool: one, residents, syncCalls }))
    const large = new ParkableIsolate({ pool: pools[0] as InstancePool, residents, syncCalls })
    const served = vi.spyOn(EngineInstance.prototype, 'serve')
    small?.start(start, FREELY)
    elsewhere?.start(start, FREELY)
    large.start(startOf('const big = new Uint8Array(3e6); await ask(1)', { capabilities: ['ask'] }), FREELY)
    step(small as ParkableIsolate, 1)
    const [ofSmall, ofElsewhere, ofLarge, ofSmallAgain] = served.mock.contexts
    served.mockRestore()
    expect(ofElsewhere).not.toBe(ofSmall)
    expect(ofSmallAgain).not.toBe(ofLarge)
    for (const guest of [small, elsewhere, large]) guest?.dispose()
  })

  it('1: has one digest and one capture, parked or not', async () => {
    const [awake, asleep] = [open(), open()]
    for (const guest of [awake, asleep]) guest.start(start, FREELY)
    asleep.park()
    expect(asleep.stateDigest()).toBe(awake.stateDigest())
    expect(await asleep.capture()).toEqual(await awake.capture())
    for (const guest of [awake, asleep]) step(guest, 1)
    asleep.park()
    expect(await asleep.capture()).toEqual(await awake.capture())
    expect((await asleep.capture()).changes).toEqual([])
    asleep.dispose()
    awake.dispose()
  })

  it('takes pages that others have too', async () => {
    const guests = Array.from({ length: 3 }, () => open(new Residents(1)))
    for (const guest of guests) {
      guest.start(start, FREELY)
      guest.park()
    }
    const captures = await Promise.all(guests.map(async (guest) => guest.capture()))
    const pages = captures.flatMap(({ changes }) => changes.map(([, page]) => page))
    expect(new Set(pages).size).toBe(pages.length / 3)
    for (const guest of guests) guest.dispose()
  })

  it('2: is not parked after its end, nor before its start', () => {
    const guest = open()
    guest.park()
    expect(guest.parkable).toBe(false)
    guest.start(startOf('return 1'), FREELY)
    guest.park()
    expect(guest.parkable).toBe(false)
    expect(guest.stateDigest()).toMatch(/^sha256:/)
    guest.dispose()
    expect(() => guest.stateDigest()).toThrow(expect.objectContaining({ code: 'isolate_destroyed' }))
  })

  it('goes on from a capture, and captures against it', async () => {
    const first = open()
    first.start(start, FREELY)
    const capture = await first.capture()
    first.dispose()
    const again = open()
    again.restore({ ...capture, capabilities: start.capabilities, limits: start.limits })
    expect((await again.capture()).changes).toEqual([])
    again.park()
    let turn: Turn | undefined
    for (let time = 1; turn?.status !== 'completed'; time += 1) turn = step(again, time)
    expect({ turn, digest: again.stateDigest() }).toEqual(straight)
    expect(PageTree.empty.with(base.pages.pages()).root()).toBe(base.pages.root())
    again.dispose()
  })
})
