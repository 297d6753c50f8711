/** Several real processes on one store: one winner, and nothing that a head needs is collected. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openStoreChildren, type StoreChildren } from './child-process.ts'
import { openStoreAt } from './store-place.ts'

export interface RacingStores {
  /** An empty place, as `openStoreAt` takes it. */
  newPlace(children: StoreChildren): string
  /** Whether a holder that died is known to be dead before its time is over. */
  readonly noticesDeath: boolean
  /** How often each of three processes takes the run. */
  readonly rounds: number
  /** How often each of two processes sets a head while a third one collects. */
  readonly heads: number
}

/** Registers the tests. */
export function describeRacing({ newPlace, noticesDeath, rounds, heads }: RacingStores): void {
  let children: StoreChildren
  beforeAll(async () => {
    children = await openStoreChildren()
  })
  afterAll(() => children[Symbol.asyncDispose]())

  describe('processes that want the same run', { timeout: 120_000 }, () => {
    it('2: hold it one after the other, with tokens that grow, and each finds what the last one wrote', async () => {
      const place = newPlace(children)
      const racing = Array.from({ length: 3 }, () => children.start('race', { place, number: rounds }))
      for (const { signal, errors } of await Promise.all(racing.map(({ ended }) => ended))) {
        expect(signal).toBeNull()
        expect(errors).toBe('')
      }
      const store = await openStoreAt(place)
      const tokens = (await store.entries('race', 0, 1_000)).map((entry) =>
        Number(new TextDecoder().decode(entry)),
      )
      expect(tokens).toEqual([...new Set(tokens)].sort((left, right) => left - right))
      const said = racing.flatMap(({ lines }) => lines[0] as number[])
      expect(said.sort((left, right) => left - right)).toEqual(tokens)
      expect(tokens).toHaveLength(3 * rounds)
      expect(await store.head('race')).toMatchObject({ version: 3 * rounds, position: 3 * rounds })
      await store.close()
    })

    // Elsewhere it is held until its time is over.
    if (!noticesDeath) return
    it('take over at once from one that was killed, and never while it lives', async () => {
      const place = newPlace(children)
      const child = children.start('endless', { place })
      await child.started
      const store = await openStoreAt(place)
      await expect(store.lease('endless', 1_000)).rejects.toMatchObject({ code: 'store_conflict' })
      child.kill()
      await child.ended
      const lease = await store.lease('endless', 1_000)
      expect(lease.fencingToken).toBeGreaterThan(0)
      await store.close()
    })
  })

  describe('a process that collects while others set heads', { timeout: 120_000 }, () => {
    it('4: never removes what a head names', async () => {
      const place = newPlace(children)
      const collector = children.start('collect', { place })
      const writers = [1, 2].map(() => children.start('checkpoint', { place, number: heads }))
      for (const writer of writers) {
        const { signal, errors } = await writer.ended
        expect({ signal, errors }).toEqual({ signal: null, errors: '' })
        expect(new Set(writer.lines[0])).toEqual(new Set([true]))
        expect(writer.lines[0]).toHaveLength(heads)
      }
      collector.kill()
      await collector.ended
      const store = await openStoreAt(place)
      const runs = await store.runs()
      expect(runs).toHaveLength(2)
      for (const run of runs) {
        for (const id of (await store.head(run))?.chain ?? []) expect(await store.getBlob(id)).toBeDefined()
      }
      await store.close()
    })
  })
}
