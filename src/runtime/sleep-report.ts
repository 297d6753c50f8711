/** Where it is told that a guest waits for nothing but its own timers. */
import type { SessionOptions } from '../machine/session.ts'
import type { RuntimeOptions } from './options.ts'

/** Undefined where nobody listens. */
export function sleepReport({ telemetry }: Pick<RuntimeOptions, 'telemetry'>): SessionOptions['onSleep'] {
  return telemetry && ((ms) => telemetry.event('guest.sleeping', { ms }))
}
