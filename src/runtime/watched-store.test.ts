import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { CaissonError } from '../base/errors.ts'
import { type WatchedStore, watchedStore } from './watched-store.ts'

const silent = { head: () => new Promise(() => {}) } as unknown as WatchedStore

describe('a store that does not answer', () => {
  beforeEach(() => {
    vi.useFakeTimers()
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  /** Whether somebody who asks for a head is told within so many milliseconds. */
  const toldWithin = async (
    ms: number,
    signal: AbortSignal,
    before: () => void = () => {},
  ): Promise<unknown> => {
    let told: unknown = 'nothing'
    watchedStore(silent, signal)
      .head('r')
      .catch((error: unknown) => {
        told = (error as CaissonError).code
      })
    before()
    await vi.advanceTimersByTimeAsync(ms)
    return told
  }

  it('has failed after a minute', async () => {
    expect(await toldWithin(59_000, new AbortController().signal)).toBe('nothing')
    expect(await toldWithin(60_001, new AbortController().signal)).toBe('store_failed')
  })

  it('has failed after two seconds for who was told to stop, before or meanwhile (invariant 2)', async () => {
    expect(await toldWithin(1_900, AbortSignal.abort())).toBe('nothing')
    expect(await toldWithin(2_001, AbortSignal.abort())).toBe('store_failed')
    const controller = new AbortController()
    expect(await toldWithin(2_001, controller.signal, () => controller.abort())).toBe('store_failed')
    expect(vi.getTimerCount()).toBe(0)
  })
})
