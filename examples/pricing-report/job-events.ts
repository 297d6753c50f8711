/** What the process of the job is told, and what it tells. */
import type { CallIntent, CallResult, Outcome } from '../../src/entry/node.ts'

export interface JobOrder {
  /** Whether it begins the run, or goes on with it. */
  readonly act: 'begin' | 'go on'
  readonly origin: string
  readonly outDirectory: string
  /** Folder of the store that the run is kept in. */
  readonly storeDirectory: string
}

export type JobEvent =
  | { readonly type: 'say'; readonly topic: string; readonly text: string }
  | { readonly type: 'ready'; readonly engine: string }
  /** A call is about to be made, or was answered: both are on the disk by then. */
  | { readonly type: 'intent'; readonly record: CallIntent }
  | { readonly type: 'result'; readonly record: CallResult }
  /** A checkpoint is on the disk. */
  | { readonly type: 'checkpoint'; readonly bytes: number }
  /** The guest is where the process before had it. */
  | { readonly type: 'resumed'; readonly answersRepeated: number; readonly callsUnanswered: number }
  | {
      readonly type: 'outcome'
      readonly outcome: Outcome
      readonly artifacts: readonly { readonly path: string; readonly bytes: number }[]
    }
