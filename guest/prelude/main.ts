/**
 * The prelude: what a guest finds beside the language.
 *
 * Evaluated once, in the base image, before any code of a guest. What is used by most programs is made here; the
 * rest lies in units, which are evaluated when they are first touched (`lazy-globals.ts`), so that the image of
 * every guest stays small.
 *
 * Invariants
 * 1. No guest code runs on behalf of the prelude's own work: it uses what it captured when it was evaluated.
 * 2. Nothing of the host's is reachable but through the functions in `Host`.
 */
import { createConsole } from './console.ts'
import { define } from './define.ts'
import type { Host, Lent } from './host.ts'
import { defineLazyGlobals } from './lazy-globals.ts'
import { defineMicrotasks } from './microtasks.ts'
import { installTimers } from './timers.ts'
import { createInternals } from './units.ts'

/** Defines the globals. @returns the functions that the host calls, by the names that it knows them by */
export default function install(host: Host): Readonly<Record<string, (...args: never[]) => unknown>> {
  define(Math, 'random', host.random)
  // A failure of a call has no stack before the guest throws it: until then it inherits an empty one.
  define(Error.prototype, 'stack', '')
  const timers = installTimers(host)
  const { fireTimer, nextTimer, countTimers } = timers
  let netFetch: Lent
  let readBody: Lent
  const lendFetch = (granted: Lent): void => {
    netFetch = granted
  }
  const lendReadBody = (granted: Lent): void => {
    readBody = granted
  }
  const internals = createInternals(host, timers, { netFetch: () => netFetch, readBody: () => readBody })
  define(globalThis, 'self', globalThis)
  define(globalThis, 'console', createConsole(internals))
  defineMicrotasks(host)
  defineLazyGlobals(internals)
  return { fireTimer, nextTimer, countTimers, lendFetch, lendReadBody }
}
