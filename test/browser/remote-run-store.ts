/** A store in a page as a `RunStore` of this process, so that the contract's suite runs over it unchanged. */
import type { Page } from 'playwright'
import { CaissonError, type ErrorCode, type ErrorDetails } from '../../src/base/errors.ts'
import type { Collected, RunLease, RunStore } from '../../src/ports/run-store.ts'
import type { Reply } from './store-page/main.ts'
import { fromWire, toWire } from './store-page/wire.ts'

/** Opens a store in the page. */
export async function openRemoteRunStore(page: Page, name: string): Promise<RunStore> {
  const store = resultOf(await page.evaluate((database) => window.openStore(database), name)) as number
  const call = async (method: keyof RunStore, ...args: unknown[]): Promise<unknown> => {
    const wire = args.map((arg) => {
      const lease = numbers.get(arg as RunLease)
      return lease === undefined ? toWire(arg) : { lease }
    })
    return resultOf(
      await page.evaluate(([s, m, a]) => window.callStore(s, m, a), [store, method, wire] as const),
    )
  }
  const numbers = new Map<RunLease, number>()
  const leaseOf = (made: { lease: number; fencingToken: number }): RunLease => {
    const onLease = async (
      method: 'held' | 'renew' | 'release',
      ...args: readonly unknown[]
    ): Promise<unknown> =>
      resultOf(
        await page.evaluate(([l, m, a]) => window.callLease(l, m, a), [
          made.lease,
          method,
          args.map(toWire),
        ] as const),
      )
    const lease: RunLease = {
      fencingToken: made.fencingToken,
      held: async () => (await onLease('held')) as boolean,
      renew: async (ttlMs) => void (await onLease('renew', ttlMs)),
      release: async () => void (await onLease('release')),
    }
    numbers.set(lease, made.lease)
    return lease
  }
  return {
    putBlob: async (id, bytes) => void (await call('putBlob', id, bytes)),
    getBlob: async (id) => (await call('getBlob', id)) as Uint8Array | undefined,
    head: async (run) => (await call('head', run)) as Awaited<ReturnType<RunStore['head']>>,
    setHead: async (...args) => void (await call('setHead', ...args)),
    append: async (...args) => void (await call('append', ...args)),
    entries: async (...args) => (await call('entries', ...args)) as readonly Uint8Array[],
    lease: async (...args) =>
      leaseOf((await call('lease', ...args)) as { lease: number; fencingToken: number }),
    isLeased: async (run) => (await call('isLeased', run)) as boolean,
    runs: async () => (await call('runs')) as readonly string[],
    remove: async (...args) => void (await call('remove', ...args)),
    collect: async (options) =>
      (await (options === undefined ? call('collect') : call('collect', options))) as Collected,
    close: async () => void (await call('close')),
  }
}

function resultOf(reply: Reply): unknown {
  if (reply.ok) return fromWire(reply.value)
  throw new CaissonError(reply.code as ErrorCode, reply.message, { details: reply.details as ErrorDetails })
}
