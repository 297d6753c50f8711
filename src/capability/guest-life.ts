/** The life of a guest as capabilities see it: to hold things for one guest, and to let them go when it ends. */
import type { GuestLife } from './capability.ts'
import type { Stop } from './stop.ts'

const LIVES = new WeakMap<Stop, GuestLife>()

/** The same object for all calls under one `Stop`, and without the means to raise it. */
export function lifeOf(stop: Stop): GuestLife {
  let life = LIVES.get(stop)
  if (life === undefined) {
    life = Object.freeze({
      get ended(): boolean {
        return stop.stopped
      },
      onEnd: (listener: () => void) => stop.onStop(listener),
    })
    LIVES.set(stop, life)
  }
  return life
}
