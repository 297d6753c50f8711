/**
 * What every `RunStore` must do. Run it over each implementation; numbers are those of the port's invariants.
 *
 * `another` opens the same data once more: from another tab, another process's point of view, another object.
 */
import { describe, expect, it } from 'vitest'
import { type Digest, sha256 } from '../../src/base/digest.ts'
import { CaissonError } from '../../src/base/errors.ts'
import type { RunHead, RunLease, RunStore } from '../../src/ports/run-store.ts'
import { HOUR_MS, put, text } from './run-store.testkit.ts'

/** An empty place for runs. */
export interface StorePlace {
  readonly store: RunStore
  /** The same data through another store; the same object where there can be only one. */
  another(): Promise<RunStore>
}

const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values)
const EMPTY: RunHead = { version: 1, chain: [], position: 0, summary: bytes() }

/** Takes the lease as soon as it can be had. */
async function takeOver(store: RunStore, run: string): Promise<RunLease> {
  for (;;) {
    try {
      return await store.lease(run, HOUR_MS)
    } catch (error) {
      if (!CaissonError.is(error, 'store_conflict')) throw error
      const { retryAfterMs } = error.details as { retryAfterMs: number }
      await new Promise((resolve) => setTimeout(resolve, Math.min(retryAfterMs, 20)))
    }
  }
}

/** Codes of the failures, and how many succeeded. */
async function outcomes(attempts: readonly Promise<unknown>[]): Promise<{ won: number; codes: string[] }> {
  const settled = await Promise.allSettled(attempts)
  const codes = settled.flatMap((one) =>
    one.status === 'rejected' ? [CaissonError.is(one.reason) ? one.reason.code : String(one.reason)] : [],
  )
  return { won: settled.length - codes.length, codes }
}

/** Registers the contract's tests. */
export function describeRunStore(name: string, open: () => Promise<StorePlace>): void {
  describe(`run store: ${name}`, () => {
    describe('checkpoints', () => {
      it('are given back as they were put, as copies', async () => {
        const { store, another } = await open()
        // Of Node, whose own kind of bytes has a `slice` that copies nothing.
        const given = typeof Buffer === 'undefined' ? bytes(1, 2, 3) : Buffer.from([1, 2, 3])
        const id = sha256(given)
        expect(await store.getBlob(id)).toBeUndefined()
        await store.putBlob(id, given)
        given[0] = 9
        const got = await store.getBlob(id)
        got?.fill(8)
        expect(await store.getBlob(id)).toEqual(bytes(1, 2, 3))
        expect(await (await another()).getBlob(id)).toEqual(bytes(1, 2, 3))
      })

      it('may be views, empty, or put twice', async () => {
        const { store } = await open()
        const view = new Uint8Array(1_000_000).fill(7).subarray(10, 12)
        await store.putBlob(sha256(view), view)
        await store.putBlob(sha256(view), view)
        await store.putBlob(sha256(bytes()), bytes())
        expect(await store.getBlob(sha256(view))).toEqual(bytes(7, 7))
        expect(await store.getBlob(sha256(bytes()))).toEqual(bytes())
      })

      it('are refused under a name that is no digest', async () => {
        const { store } = await open()
        const hex = 'a'.repeat(64)
        for (const id of [
          '',
          'sha256:',
          `sha256:${hex}0`,
          `sha256:${hex.toUpperCase()}`,
          `sha256:../${hex}`,
        ]) {
          const refused = { code: 'invalid_argument' }
          await expect(store.putBlob(id as Digest, bytes(1))).rejects.toMatchObject(refused)
          await expect(store.getBlob(id as Digest)).rejects.toMatchObject(refused)
        }
      })
    })

    describe('heads', () => {
      it('2: change one version at a time, under a lease', async () => {
        const { store, another } = await open()
        expect(await store.head('r')).toBeUndefined()
        const lease = await store.lease('r', HOUR_MS)
        expect(await store.head('r')).toBeUndefined()
        const id = await put(store, text('first'))
        const head: RunHead = { version: 1, chain: [id], position: 0, summary: text('waits') }
        await store.setHead('r', head, lease)
        expect(await store.head('r')).toEqual(head)
        for (const version of [1, 3]) {
          const attempt = store.setHead('r', { ...head, version }, lease)
          await expect(attempt).rejects.toMatchObject({ code: 'store_conflict' })
        }
        const next: RunHead = {
          version: 2,
          chain: [await put(store, text('b')), id],
          position: 0,
          summary: bytes(),
        }
        await store.setHead('r', next, lease)
        expect(await (await another()).head('r')).toEqual(next)
      })

      it('2: of many who set the same version, one wins', async () => {
        const { store } = await open()
        const lease = await store.lease('r', HOUR_MS)
        const attempts = Array.from({ length: 8 }, (_, n) =>
          store.setHead('r', { ...EMPTY, summary: bytes(n) }, lease),
        )
        const { won, codes } = await outcomes(attempts)
        expect(won).toBe(1)
        expect(new Set(codes)).toEqual(new Set(['store_conflict']))
        expect((await store.head('r'))?.version).toBe(1)
      })

      it('4: name only checkpoints that are there, and no more of the log than there is', async () => {
        const { store } = await open()
        const lease = await store.lease('r', HOUR_MS)
        const missing = { ...EMPTY, chain: [sha256(text('never put'))] }
        const refused = { code: 'invalid_argument' }
        await expect(store.setHead('r', missing, lease)).rejects.toMatchObject(refused)
        await expect(store.setHead('r', { ...EMPTY, position: 1 }, lease)).rejects.toMatchObject(refused)
        expect(await store.head('r')).toBeUndefined()
      })
    })

    describe('logs', () => {
      it('3: are numbered from 0 and read in windows', async () => {
        const { store, another } = await open()
        expect(await store.entries('r', 0, 10)).toEqual([])
        const lease = await store.lease('r', HOUR_MS)
        await store.append('r', 0, [text('a'), bytes(), text('c')], lease)
        await store.append('r', 3, [], lease)
        await store.append('r', 3, [text('d')], lease)
        expect(await store.entries('r', 0, 10)).toEqual([text('a'), bytes(), text('c'), text('d')])
        expect(await store.entries('r', 1, 2)).toEqual([bytes(), text('c')])
        expect(await store.entries('r', 2, 0)).toEqual([])
        expect(await store.entries('r', 4, 10)).toEqual([])
        expect(await store.entries('r', 99, 10)).toEqual([])
        expect(await (await another()).entries('r', 2, 9)).toEqual([text('c'), text('d')])
        await store.setHead('r', { ...EMPTY, position: 4 }, lease)
      })

      it('3: take entries only at their end', async () => {
        const { store } = await open()
        const lease = await store.lease('r', HOUR_MS)
        await store.append('r', 0, [text('a')], lease)
        for (const at of [0, 2]) {
          const attempt = store.append('r', at, [text('b'), text('c')], lease)
          await expect(attempt).rejects.toMatchObject({ code: 'store_conflict' })
        }
        const { won } = await outcomes([1, 1, 1].map((at) => store.append('r', at, [text('x')], lease)))
        expect(won).toBe(1)
        expect(await store.entries('r', 0, 10)).toEqual([text('a'), text('x')])
      })

      it('keep no reference, and go on under the next lease', async () => {
        const { store, another } = await open()
        const given = text('mine')
        const first = await store.lease('r', HOUR_MS)
        await store.append('r', 0, [given], first)
        given.fill(0)
        ;(await store.entries('r', 0, 1))[0]?.fill(0)
        await first.release()
        const other = await another()
        const second = await other.lease('r', HOUR_MS)
        await other.append('r', 1, [text('yours')], second)
        await second.release()
        const third = await store.lease('r', HOUR_MS)
        await store.append('r', 2, [text('ours')], third)
        const all = [text('mine'), text('yours'), text('ours')]
        expect(await store.entries('r', 0, 9)).toEqual(all)
        expect(await other.entries('r', 0, 9)).toEqual(all)
      })

      it('take large entries and many', async () => {
        const { store } = await open()
        const lease = await store.lease('r', HOUR_MS)
        const large = new Uint8Array(3_000_000).map((_, index) => index * 31)
        await store.append('r', 0, [large, text('after')], lease)
        const many = Array.from({ length: 1_000 }, (_, n) => text(`${n}`))
        await store.append('r', 2, many, lease)
        const [first = bytes(), second] = await store.entries('r', 0, 2)
        expect(sha256(first)).toBe(sha256(large)) // a matcher takes seconds for so many bytes
        expect(second).toEqual(text('after'))
        expect(await store.entries('r', 1_000, 9)).toEqual(['998', '999'].map(text))
      })
    })

    describe('leases', () => {
      it('are held by one, who is asked for when to try again', async () => {
        const { store, another } = await open()
        const other = await another()
        const lease = await store.lease('r', HOUR_MS)
        expect(await lease.held()).toBe(true)
        for (const asking of [store, other]) {
          const refused = await asking.lease('r', HOUR_MS).catch((error: unknown) => error)
          expect(refused).toMatchObject({ code: 'store_conflict' })
          const { retryAfterMs } = (refused as CaissonError).details as { retryAfterMs: number }
          expect(retryAfterMs).toBeGreaterThan(0)
          expect(retryAfterMs).toBeLessThanOrEqual(HOUR_MS + 2_000)
        }
        await (await other.lease('another-run', HOUR_MS)).release()
      })

      it('can be given back, once and for all', async () => {
        const { store, another } = await open()
        const first = await store.lease('r', HOUR_MS)
        await first.release()
        await first.release()
        expect(await first.held()).toBe(false)
        await expect(first.renew(HOUR_MS)).rejects.toMatchObject({ code: 'lease_lost' })
        await expect(store.setHead('r', EMPTY, first)).rejects.toMatchObject({ code: 'lease_lost' })
        const second = await (await another()).lease('r', HOUR_MS)
        expect(second.fencingToken).toBeGreaterThan(first.fencingToken)
        await first.release()
        expect(await second.held()).toBe(true)
      })

      it('run out unless they are renewed', async () => {
        const { store, another } = await open()
        const other = await another()
        const kept = await store.lease('kept', 30)
        await kept.renew(HOUR_MS)
        const first = await store.lease('r', 30)
        const second = await takeOver(other, 'r')
        expect(second.fencingToken).toBeGreaterThan(first.fencingToken)
        expect(await first.held()).toBe(false)
        expect(await second.held()).toBe(true)
        await expect(other.lease('kept', HOUR_MS)).rejects.toMatchObject({ code: 'store_conflict' })
        expect(await kept.held()).toBe(true)
      })

      it('are seen by who only looks, who takes nothing from those whose lease ran out', async () => {
        const { store, another } = await open()
        const other = await another()
        expect(await other.isLeased?.('r')).toBe(false)
        const lease = await store.lease('r', HOUR_MS)
        expect(await other.isLeased?.('r')).toBe(true)
        expect(await store.isLeased?.('r')).toBe(true)
        await lease.release()
        expect(await other.isLeased?.('r')).toBe(false)
        const short = await store.lease('s', 30)
        while (await other.isLeased?.('s')) await new Promise((resolve) => setTimeout(resolve, 2))
        await short.renew(HOUR_MS)
        expect(await short.held()).toBe(true)
        expect(await other.isLeased?.('s')).toBe(true)
      })

      it('that ran out may still be used and renewed as long as nobody took them', async () => {
        const { store } = await open()
        const lease = await store.lease('r', 1)
        while (await lease.held()) await new Promise((resolve) => setTimeout(resolve, 2))
        await store.append('r', 0, [text('a')], lease)
        await store.setHead('r', { ...EMPTY, position: 1 }, lease)
        await lease.renew(HOUR_MS)
        expect(await lease.held()).toBe(true)
      })

      it('2: that were lost change nothing any more', async () => {
        const { store, another } = await open()
        const other = await another()
        const late = await store.lease('r', 30)
        await store.append('r', 0, [text('a')], late)
        const newest = await takeOver(other, 'r')
        await other.append('r', 1, [text('b')], newest)
        await other.setHead('r', { ...EMPTY, position: 2 }, newest)
        const lost = { code: 'lease_lost' }
        await expect(store.append('r', 2, [text('late')], late)).rejects.toMatchObject(lost)
        await expect(store.setHead('r', { ...EMPTY, version: 2 }, late)).rejects.toMatchObject(lost)
        await expect(store.remove('r', late)).rejects.toMatchObject(lost)
        await expect(late.renew(HOUR_MS)).rejects.toMatchObject(lost)
        await late.release()
        expect(await newest.held()).toBe(true)
        for (const reading of [store, other]) {
          expect(await reading.entries('r', 0, 9)).toEqual([text('a'), text('b')])
          expect(await reading.head('r')).toEqual({ ...EMPTY, position: 2 })
        }
        await other.append('r', 2, [text('c')], newest)
      })

      it('2: go to one of those who ask at the same time', async () => {
        const { store, another } = await open()
        const other = await another()
        const tokens = new Set<number>()
        for (let round = 0; round < 5; round++) {
          const attempts = [store, other, store, other].map((asking) => asking.lease('r', HOUR_MS))
          const settled = await Promise.allSettled(attempts)
          const winners = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
          expect(winners).toHaveLength(1)
          tokens.add(winners[0]?.fencingToken ?? Number.NaN)
          await winners[0]?.release()
        }
        expect(tokens.size).toBe(5)
      })
    })

    describe('runs', () => {
      it('are listed, sorted, once they have a head or a log', async () => {
        const { store, another } = await open()
        expect(await store.runs()).toEqual([])
        for (const run of ['b', 'a', 'c', 'B']) {
          const lease = await store.lease(run, HOUR_MS)
          if (run === 'a') await store.append(run, 0, [text('x')], lease)
          if (run !== 'a' && run !== 'c') await store.setHead(run, EMPTY, lease)
        }
        expect(await store.runs()).toEqual(['B', 'a', 'b'])
        expect(await (await another()).runs()).toEqual(['B', 'a', 'b'])
      })

      it('have names that mean something elsewhere, and no other', async () => {
        const { store } = await open()
        const right = [
          'A',
          'a',
          'aB',
          'Ab',
          'CON',
          'nul.txt',
          'a.',
          '-',
          '_',
          '0',
          '__proto__',
          'tmp-1',
          'lock',
        ]
        right.push(
          'constructor',
          'x'.repeat(128),
          'X'.repeat(128),
          'a..b',
          'state-1',
          'a=b'.replace('=', '-'),
        )
        for (const run of right) {
          const lease = await store.lease(run, HOUR_MS)
          await store.append(run, 0, [text(run)], lease)
        }
        expect(await store.runs()).toEqual([...right].sort())
        for (const run of right) expect(await store.entries(run, 0, 9)).toEqual([text(run)])
        const wrong = [
          '',
          '.',
          '..',
          '.a',
          '../a',
          'a/b',
          'a\\b',
          'a b',
          'ä',
          'a\0',
          'a\n',
          'a=',
          'x'.repeat(129),
        ]
        for (const run of wrong) {
          const refused = { code: 'invalid_argument' }
          await expect(store.lease(run, HOUR_MS)).rejects.toMatchObject(refused)
          await expect(store.head(run)).rejects.toMatchObject(refused)
          await expect(store.entries(run, 0, 1)).rejects.toMatchObject(refused)
        }
      })

      it('that were removed are gone, and begin anew with newer tokens', async () => {
        const { store, another } = await open()
        const other = await another()
        const first = await store.lease('r', HOUR_MS)
        await store.append('r', 0, [text('old')], first)
        await store.setHead('r', { ...EMPTY, position: 1 }, first)
        await store.remove('r', first)
        for (const reading of [store, other]) {
          expect(await reading.head('r')).toBeUndefined()
          expect(await reading.entries('r', 0, 9)).toEqual([])
          expect(await reading.runs()).toEqual([])
        }
        const lost = { code: 'lease_lost' }
        expect(await first.held()).toBe(false)
        await expect(store.append('r', 0, [text('late')], first)).rejects.toMatchObject(lost)
        await expect(store.remove('r', first)).rejects.toMatchObject(lost)
        const second = await other.lease('r', HOUR_MS)
        expect(second.fencingToken).toBeGreaterThan(first.fencingToken)
        await expect(store.setHead('r', EMPTY, first)).rejects.toMatchObject(lost)
        await other.append('r', 0, [text('new')], second)
        expect(await store.entries('r', 0, 9)).toEqual([text('new')])
        expect(await store.head('r')).toBeUndefined()
      })
    })

    describe('collecting', () => {
      it('4: removes what no head names, and nothing else', async () => {
        const { store, another } = await open()
        const other = await another()
        const [old, base, newest, loose] = await Promise.all(
          ['1', '2', '3', '4'].map((n) => put(store, text(n))),
        )
        const ids = { old, base, newest, loose } as Record<string, Digest>
        const lease = await store.lease('r', HOUR_MS)
        const head = { ...EMPTY, chain: [ids.old as Digest] }
        await store.setHead('r', head, lease)
        const chain = [ids.newest as Digest, ids.base as Digest]
        await store.setHead('r', { ...head, version: 2, chain }, lease)
        expect(await other.collect({ graceMs: HOUR_MS })).toEqual({ removed: 0, bytes: 0 })
        expect(await other.collect()).toEqual({ removed: 0, bytes: 0 })
        for (let n = 0; n < 2; n++) {
          expect(await other.collect({ graceMs: 0, dryRun: true })).toEqual({ removed: 2, bytes: 2 })
        }
        expect(await store.getBlob(ids.old as Digest)).toBeDefined()
        expect(await other.collect({ graceMs: 0 })).toEqual({ removed: 2, bytes: 2 })
        expect(await other.collect({ graceMs: 0 })).toEqual({ removed: 0, bytes: 0 })
        const left = await Promise.all(Object.values(ids).map((id) => store.getBlob(id)))
        expect(left.map((blob) => blob !== undefined)).toEqual([false, true, true, false])
        await store.setHead('r', { ...head, version: 3, chain }, lease)
        await store.remove('r', lease)
        expect(await store.collect({ graceMs: 0 })).toEqual({ removed: 2, bytes: 2 })
      })

      it('4: never takes what a head is about to name', async () => {
        const { store, another } = await open()
        const other = await another()
        const lease = await store.lease('r', HOUR_MS)
        let collecting = true
        const collector = (async () => {
          let removed = 0
          while (collecting) removed += (await other.collect({ graceMs: 0 })).removed
          return removed
        })()
        let version = 0
        let refused = 0
        for (let n = 0; n < 40; n++) {
          const id = await put(store, text(`checkpoint ${n % 7}`))
          try {
            await store.setHead('r', { ...EMPTY, version: version + 1, chain: [id] }, lease)
            version += 1
            expect(await store.getBlob(id)).toBeDefined()
          } catch (error) {
            // Without a grace time a checkpoint may go before its head is set; then the head does not change.
            if (!CaissonError.is(error, 'invalid_argument')) throw error
            refused += 1
          }
        }
        collecting = false
        await collector
        expect(version + refused).toBe(40)
        const last = (await store.head('r'))?.chain[0]
        if (last !== undefined) expect(await other.getBlob(last)).toBeDefined()
      })
    })

    it('refuses impossible arguments, and changes nothing', async () => {
      const { store } = await open()
      const lease = await store.lease('r', HOUR_MS)
      const tooLong = { ...EMPTY, summary: new Uint8Array(16 * 1024 + 1) }
      const attempts = [
        store.lease('q', 0),
        store.lease('q', Number.NaN),
        store.lease('q', Number.POSITIVE_INFINITY),
        lease.renew(-1),
        store.setHead('r', { ...EMPTY, version: 0 }, lease),
        store.setHead('r', { ...EMPTY, version: 1.5 }, lease),
        store.setHead('r', { ...EMPTY, position: -1 }, lease),
        store.setHead('r', { ...EMPTY, chain: ['x' as Digest] }, lease),
        store.setHead('r', tooLong, lease),
        store.append('r', -1, [], lease),
        store.append('r', 0, [text('a'), 'b' as unknown as Uint8Array], lease),
        store.entries('r', -1, 1),
        store.entries('r', 0, Number.NaN),
        store.collect({ graceMs: -1 }),
      ]
      const { won, codes } = await outcomes(attempts)
      expect(won).toBe(0)
      expect(new Set(codes)).toEqual(new Set(['invalid_argument']))
      expect(await store.runs()).toEqual([])
    })

    it('gives back its leases when it is closed, and refuses everything afterwards', async () => {
      const { store, another } = await open()
      const other = await another()
      const lease = await store.lease('r', HOUR_MS)
      await store.append('r', 0, [text('a')], lease)
      await store.close()
      await store.close()
      const { won, codes } = await outcomes([
        store.putBlob(sha256(bytes()), bytes()),
        store.getBlob(sha256(bytes())),
        store.head('r'),
        store.setHead('r', EMPTY, lease),
        store.append('r', 1, [], lease),
        store.entries('r', 0, 1),
        store.lease('r', HOUR_MS),
        store.runs(),
        store.remove('r', lease),
        store.collect(),
        lease.renew(HOUR_MS),
      ])
      expect(won).toBe(0)
      expect(new Set(codes)).toEqual(new Set(['disposed']))
      await lease.release()
      expect(await lease.held()).toBe(false)
      if (other !== store) {
        const next = await other.lease('r', HOUR_MS)
        expect(next.fencingToken).toBeGreaterThan(lease.fencingToken)
        expect(await other.entries('r', 0, 9)).toEqual([text('a')])
      }
    })
  })
}
