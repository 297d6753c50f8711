/** What the process of the job is told, and what it tells. */
import type { PlanOutcome, PositionedEvent } from '../../src/entry/node.ts'

export interface JobOrder {
  readonly act: 'start' | 'go on'
  /** Where the run stands, as the person saw it who lets it go on. */
  readonly point?: string
  /** The first event of its journal that is news. */
  readonly from: number
  readonly origin: string
  readonly reportsDirectory: string
  /** Folder of the store that the run is kept in. */
  readonly storeDirectory: string
}

export type JobEvent =
  | { readonly type: 'say'; readonly topic: string; readonly text: string }
  | { readonly type: 'ready'; readonly engine: string }
  /** Something of the run is on the disk. */
  | { readonly type: 'event'; readonly news: PositionedEvent }
  /** A program is about to make a call: that is on the disk by then. */
  | { readonly type: 'call'; readonly capability: string }
  /** A checkpoint of a program is on the disk. */
  | { readonly type: 'checkpoint'; readonly bytes: number }
  /** A program is where the process before had it. */
  | { readonly type: 'resumed'; readonly answersRepeated: number; readonly callsUnanswered: number }
  | { readonly type: 'outcome'; readonly outcome: PlanOutcome }
