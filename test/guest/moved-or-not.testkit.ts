/** Whether a guest notices that it was moved while it waited: what each unit of the library is tried with. */
import { FREELY, newIsolate, openPool, startOf } from '../../src/isolate/isolate.testkit.ts'
import type { Turn } from '../../src/machine/turn.ts'

/** The end of a program that waits for one timer, and of the same one moved to another instance while it does. */
export function movedOrNot(source: string): readonly Turn[] {
  const pool = openPool()
  return [false, true].map((moved) => {
    let isolate = newIsolate(pool)
    const waiting = isolate.start(startOf(source), FREELY)
    if (moved) {
      const { memoryBytes, changes, state } = isolate.capture()
      const { limits, capabilities } = startOf(source)
      isolate = newIsolate(pool)
      isolate.restore({ memoryBytes, changes, state, capabilities, limits })
    }
    return isolate.settle([], (waiting as { wakeAtMs: number }).wakeAtMs, FREELY)
  })
}
