/** What stops a call of a node: whoever told it to, and its own time. */
import type { CallWatcher } from '../../capability/gate.ts'
import { type Stop, StopSource } from '../../capability/stop.ts'
import type { CallWork } from '../../graph/run/node-work.ts'

export interface Stopping {
  readonly source: Stop
  readonly timedOut: boolean
  /** While a person thinks, no time passes. */
  readonly watcher: CallWatcher
  forget(): void
}

/** Stops with the work, and when the attempt takes too long. */
export function stopOf({ stop, timeoutMs }: Pick<CallWork, 'stop' | 'timeoutMs'>): Stopping {
  return timeoutMs === undefined ? { source: stop, ...UNTIMED } : stopWithin(stop, timeoutMs)
}

/** Most calls have no time of their own. */
const UNTIMED: Omit<Stopping, 'source'> = {
  timedOut: false,
  watcher: { approvalBegins() {}, approvalEnds() {} },
  forget() {},
}

function stopWithin(stop: Stop, timeoutMs: number): Stopping {
  const source = new StopSource()
  let timedOut = false
  const raise = (): void => source.stop()
  if (stop.stopped) raise()
  const forget = stop.onStop(raise)
  let leftMs = timeoutMs
  let sinceMs = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  const watcher: CallWatcher = {
    approvalBegins() {
      clearTimeout(timer)
      leftMs -= performance.now() - sinceMs
    },
    approvalEnds() {
      sinceMs = performance.now()
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
      forget()
    },
  }
}
