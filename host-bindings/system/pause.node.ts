/** A short pause, in which the host's timers, sockets and input have their turn. */
import { setImmediate } from 'node:timers/promises'

export function pause(): Promise<void> {
  return setImmediate()
}
