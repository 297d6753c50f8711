/**
 * The events of a run as they are written down, for whoever follows it: command lines, pages, exporters.
 *
 * Invariants
 * 1. Only what is on disk is told, in order, and nothing is left out that was asked for.
 * 2. Nothing waits for a reader, and nothing is held for one: it reads the journal at its own pace.
 */
import { parseRunEvent } from '../../graph/run/parse-run-event.ts'
import type { RecordedEvent } from '../../graph/run/run-event.ts'
import { ENDED } from '../../graph/run/transitions.ts'
import { JournalReader } from '../../journal/journal.ts'
import type { LiveRun } from './live-run.ts'
import type { EventsOptions, PositionedEvent } from './plan-run.ts'
import { readStanding } from './read-standing.ts'
import { readCut } from './run-cut.ts'

/** How often the journal is looked at that another process writes. */
const POLL_MS = 300

export async function* runEvents(live: LiveRun, options: EventsOptions): AsyncGenerator<PositionedEvent> {
  const { from = 0, until = 'end', signal } = options
  const { store, sealing } = live.parts
  const { run, tenant } = live.owner
  const journal = { store, run, tenant, sealing }
  let reader = new JournalReader(journal, from)
  /** Nothing is known of what is before the first event wanted: the run may have ended there. */
  let isFirst = from > 0
  while (signal?.aborted !== true) {
    const news = watch(live, signal)
    try {
      // Asked before reading: what is added between the two is told the next time.
      const isDriven = live.isDriven
      const records = await reader.next()
      const first = reader.at - records.length
      for (const [i, record] of records.entries()) {
        const event = parseRunEvent(record, first + i)
        if (first + i >= from && isWanted(event, options)) yield { position: first + i, event }
        if (LAST.has(event.type)) return
        if (signal?.aborted) return
      }
      if (isFirst && records.length === 0 && until !== 'now') {
        const { state, end } = await readStanding(live.parts, live.owner)
        if (end.length <= from && ENDED.has(state.status ?? 'proposed')) return
        if (end.length < from) reader = new JournalReader(journal, end.length)
        isFirst = false
        continue
      }
      isFirst = false
      if (records.length > 0) continue
      // Nothing is told any more of what was cut.
      if (reader.at === 0 && (await readCut(live.parts, live.owner)) !== undefined) return
      if (until === 'now' || (until === 'rest' && !isDriven)) return
      await news.came
    } finally {
      news.forget()
    }
  }
}

/** Nothing follows them. */
const LAST: ReadonlySet<string> = ENDED

function isWanted(event: RecordedEvent, { types, nodes }: EventsOptions): boolean {
  if (types !== undefined && !types.includes(event.type)) return false
  if (nodes === undefined) return true
  if (!('node' in event)) return false
  const { node } = event
  return nodes.some((path) => node === path || node.startsWith(`${path}/`))
}

function watch(
  live: LiveRun,
  signal: AbortSignal | undefined,
): { readonly came: Promise<void>; readonly forget: () => void } {
  let forget = (): void => {}
  const came = new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, POLL_MS)
    const unlisten = live.listen(resolve)
    const stop = (): void => resolve()
    signal?.addEventListener('abort', stop)
    forget = () => {
      clearTimeout(timer)
      unlisten()
      signal?.removeEventListener('abort', stop)
      resolve()
    }
  })
  return { came, forget: () => forget() }
}
