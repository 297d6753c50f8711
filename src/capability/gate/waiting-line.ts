/** Lets at most `places` calls work at once; the others wait in the order in which they came. */
import type { Stop } from '../stop.ts'

export interface WaitingLine {
  /**
   * Resolves with a function that gives the place back (call it once), or with `undefined` when `stop` was
   * raised while waiting.
   */
  enter(stop: Stop): Promise<(() => void) | undefined>
}

export function createWaitingLine(places: number): WaitingLine {
  let free = places
  const waiting = new Set<() => void>()

  const leave = (): void => {
    free += 1
    const [next] = waiting
    next?.()
  }
  const take = (): (() => void) => {
    free -= 1
    let held = true
    return () => {
      if (held) {
        held = false
        leave()
      }
    }
  }
  return {
    enter(stop) {
      if (stop.stopped) return Promise.resolve(undefined)
      if (free > 0) return Promise.resolve(take())
      return new Promise((resolve) => {
        const admitNow = (): void => {
          waiting.delete(admitNow)
          forget()
          resolve(take())
        }
        const forget = stop.onStop(() => {
          waiting.delete(admitNow)
          resolve(undefined)
        })
        waiting.add(admitNow)
      })
    },
  }
}
