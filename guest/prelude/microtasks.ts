/** `queueMicrotask` and `reportError`. */
import { define } from './define.ts'
import type { Host } from './host.ts'

const Refusal = TypeError

/** Defines the globals. */
export function defineMicrotasks(host: Host): void {
  /** What the engine awaits by itself asks nothing of `Promise`, whatever a guest made of that. */
  const run = async (callback: () => unknown): Promise<void> => {
    // oxlint-disable-next-line typescript/await-thenable -- one microtask is all that is wanted of it.
    await undefined
    try {
      callback()
    } catch (error) {
      host.report(error)
    }
  }
  const globals = {
    queueMicrotask(callback: unknown): void {
      if (typeof callback !== 'function') throw new Refusal('queueMicrotask takes a function.')
      void run(callback as () => unknown)
    },
    reportError(error: unknown): void {
      host.report(error)
    },
  }
  define(globalThis, 'queueMicrotask', globals.queueMicrotask)
  define(globalThis, 'reportError', globals.reportError)
}
