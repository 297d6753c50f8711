/** One line on a terminal that says how long a run takes, and goes away when it ends. */
import type { CliOutput } from '../cli-io.ts'
import { showDuration } from '../units/parse-duration.ts'

const FIRST_AFTER_MS = 500
const EVERY_MS = 100
const CLEAR = '\r\x1b[K'

/**
 * Shows the line from half a second on, and never on what is no terminal. It moves while the event loop does: always
 * with a guest in a Worker, only between turns with one on the host's thread.
 * @param line what stands before the elapsed time; plain text
 * @returns how to end it
 */
export function showProgress(output: CliOutput, line: string): () => void {
  if (!output.isTerminal) return () => {}
  const startedAt = performance.now()
  let shown = false
  const timer = setInterval(() => {
    const elapsed = performance.now() - startedAt
    if (elapsed < FIRST_AFTER_MS) return
    shown = true
    output.write(CLEAR + `${line} · ${showDuration(elapsed)}`.slice(0, Math.max(1, output.columns - 1)))
  }, EVERY_MS)
  return () => {
    clearInterval(timer)
    if (shown) output.write(CLEAR)
  }
}
