/**
 * Waits for foreign code: for at most a time, until stopped, and whatever it does (see `follow`).
 *
 * Invariants
 * 1. The promise returned never rejects, and settles once.
 * 2. What the foreign promise does later is dropped: its value is not kept, its rejection is handled.
 */
import type { Stop } from '../stop.ts'
import { follow } from './follow.ts'

/** How a piece of foreign code ended. */
export type Settled =
  | { readonly end: 'value'; readonly value: unknown }
  | { readonly end: 'error'; readonly error: unknown }
  | { readonly end: 'timeout' }
  | { readonly end: 'stopped' }

/**
 * @param cancel called when the wait ends without the promise: at the timeout and when stopped
 */
export function settled(
  foreign: PromiseLike<unknown>,
  stop: Stop,
  timeoutMs: number,
  cancel?: () => void,
): Promise<Settled> {
  return new Promise((resolve) => {
    let waiting = true
    const finish = (ended: Settled): void => {
      if (!waiting) return
      waiting = false
      clearTimeout(timer)
      forget()
      resolve(ended)
    }
    let timer: ReturnType<typeof setTimeout> | undefined
    const arm = (): void => {
      if (!waiting) return
      timer = setTimeout(() => {
        finish({ end: 'timeout' })
        cancel?.()
      }, timeoutMs)
    }
    const forget = stop.onStop(() => {
      finish({ end: 'stopped' })
      cancel?.()
    })
    follow(
      foreign,
      () => waiting,
      (value) => finish({ end: 'value', value }),
      (error) => finish({ end: 'error', error }),
    )
    if (stop.stopped) {
      finish({ end: 'stopped' })
      cancel?.()
    }
    // What is settled already says so before this: a timer takes longer than all the rest of a call that waits for nothing.
    void Promise.resolve().then(arm)
  })
}
