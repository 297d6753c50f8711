/** One line on a terminal that says how long a run takes and what it waits for, and goes away when it ends. */
import type { CliOutput } from '../cli-io.ts'
import { showDuration } from '../units/parse-duration.ts'

const FIRST_AFTER_MS = 500
const EVERY_MS = 100
const CLEAR = '\r\x1b[K'

export interface Progress {
  /** From now on the program waits for nothing but a timer, which is due in so many milliseconds. */
  sleeps(ms: number): void
  end(): void
}

const UNSEEN: Progress = { sleeps() {}, end() {} }

/**
 * Shows the line from half a second on, and never on what is no terminal. It moves while the event loop does: always
 * with a guest in a Worker, only between turns with one on the host's thread.
 * @param line what stands before the elapsed time; plain text
 */
export function showProgress(output: CliOutput, line: string): Progress {
  if (!output.isTerminal) return UNSEEN
  const startedAt = performance.now()
  let shown = false
  let dueAt = 0
  const timer = setInterval(() => {
    const now = performance.now()
    if (now - startedAt < FIRST_AFTER_MS) return
    shown = true
    const waits =
      dueAt > now ? ` · waiting for a timer, due in ${showDuration(wholeSeconds(dueAt - now))}` : ''
    const text = `${line} · ${showDuration(now - startedAt)}${waits}`
    output.write(CLEAR + text.slice(0, Math.max(1, output.columns - 1)))
  }, EVERY_MS)
  return {
    sleeps(ms) {
      dueAt = performance.now() + ms
    },
    end() {
      clearInterval(timer)
      if (shown) output.write(CLEAR)
    },
  }
}

function wholeSeconds(ms: number): number {
  return Math.ceil(ms / 1_000) * 1_000
}
