/**
 * Waiting for other processes without holding up this one: SQLite itself would sleep in the host's thread.
 */
import { isLocked } from './sqlite-error.ts'

/** How long to wait before trying again: soon at first, then less often. */
const LONGEST_PAUSE_MS = 20

/**
 * Runs `act`, again and again while another process is in the way.
 * @param act synchronous, and undone by itself when it throws
 * @throws what `act` threw, when others were in the way for longer than `patienceMs`
 */
export async function patiently<T>(patienceMs: number, act: () => T): Promise<T> {
  const untilMs = performance.now() + patienceMs
  for (let pauseMs = 1; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    try {
      return act()
    } catch (error) {
      if (!isLocked(error) || performance.now() >= untilMs) throw error
    }
    // Not all at the same moment: of those who wait, one is first.
    await new Promise((resolve) => setTimeout(resolve, pauseMs * (0.5 + Math.random())))
  }
}
