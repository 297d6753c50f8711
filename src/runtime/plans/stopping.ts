/** What stops a call of a node: whoever told it to, and its own time. */
import type { CallWatcher } from '../../capability/gate.ts'
import { StopSource } from '../../capability/stop.ts'
import type { CallWork } from '../../graph/run/node-work.ts'

export interface Stopping {
  readonly source: StopSource
  readonly timedOut: boolean
  /** While a person thinks, no time passes. */
  readonly watcher: CallWatcher
  forget(): void
}

/** Stops when the signal says so, and when the attempt takes too long. */
export function stopOf({ signal, timeoutMs }: Pick<CallWork, 'signal' | 'timeoutMs'>): Stopping {
  const source = new StopSource()
  let timedOut = false
  const raise = (): void => source.stop()
  if (signal.aborted) raise()
  signal.addEventListener('abort', raise)
  let leftMs = timeoutMs
  let sinceMs = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  const watcher: CallWatcher = {
    approvalBegins() {
      clearTimeout(timer)
      if (leftMs !== undefined) leftMs -= performance.now() - sinceMs
    },
    approvalEnds() {
      sinceMs = performance.now()
      if (leftMs === undefined) return
      timer = setTimeout(
        () => {
          timedOut = true
          raise()
        },
        Math.max(leftMs, 0),
      )
    },
  }
  watcher.approvalEnds()
  return {
    source,
    watcher,
    get timedOut() {
      return timedOut
    },
    forget() {
      clearTimeout(timer)
      signal.removeEventListener('abort', raise)
    },
  }
}
