/** Lets only so many tasks work at once; the others wait in line, and the line has an end too. */
import { CaissonError } from '../../../src/base/errors.ts'

export interface TaskSlots {
  /**
   * Runs a task when a slot is free, in the order of asking.
   * @throws CaissonError `quota_exceeded` where the line is full
   */
  run<T>(task: () => Promise<T>): Promise<T>
  /** Resolves when no task runs or waits. */
  drained(): Promise<void>
}

/** Slots for `limit` tasks at once, and a line for `maxWaiting` more. */
export function createTaskSlots(limit: number, maxWaiting = 1_000): TaskSlots {
  let free = limit
  const waiting: (() => void)[] = []
  const whenDrained: (() => void)[] = []

  const release = (): void => {
    // A slot is handed over, not freed and taken, so that nobody jumps the line.
    const next = waiting.shift()
    if (next !== undefined) {
      next()
      return
    }
    free += 1
    if (free === limit) for (const resolve of whenDrained.splice(0)) resolve()
  }
  return {
    async run(task) {
      if (free > 0) {
        free -= 1
      } else if (waiting.length < maxWaiting) {
        await new Promise<void>((resolve) => waiting.push(resolve))
      } else {
        throw new CaissonError('quota_exceeded', `More than ${maxWaiting} operations are waiting already.`)
      }
      try {
        return await task()
      } finally {
        release()
      }
    },
    drained() {
      if (free === limit) return Promise.resolve()
      return new Promise((resolve) => whenDrained.push(resolve))
    },
  }
}
