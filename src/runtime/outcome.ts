/** How a run ended, with what only the runtime knows. */
import type { Digest } from '../base/digest.ts'
import type { Outcome as DrivenOutcome } from '../machine/outcome.ts'

export type Outcome = DrivenOutcome & {
  /** Id of the engine build that ran the guest. */
  readonly engine: string
  /** Digest of the guest's final state, if it was asked for. Equal on every runtime for equal histories. */
  readonly stateDigest?: string
  /** Name of a kept run. */
  readonly run?: string
  /** Id of the newest checkpoint of a kept run, under which its store has it. */
  readonly checkpoint?: string
  /**
   * Of a kept run that `resume` leads further with: it is suspended, ran out of something, or the host broke it off.
   * Which codes the errors of the program itself carry does not matter.
   */
  readonly resumable?: true
  /**
   * Of a kept run: checkpoints that could not be written while it went on. Nothing is lost by it: the run stands on the
   * checkpoint before, and on its log.
   */
  readonly unwritten?: UnwrittenCheckpoints
  /** Of a kept run: where its log ended. */
  readonly log?: LogEnd
  /**
   * Where a guest failed because it reached for a capability that exists and that it was not granted: which. For the
   * embedder. It names what the guest may not know of: keep it from who wrote the program, unless they may.
   */
  readonly hint?: string
}

/** Where the log of a kept run ends. */
export interface LogEnd {
  readonly entries: number
  /** Of its last entry, as it is sealed: it stands for all before it. */
  readonly digest: Digest
}

/** How many checkpoints could not be written, and why the last one. */
export interface UnwrittenCheckpoints {
  readonly count: number
  /** Of a `CaissonError`: `store_failed`, `quota_exceeded`, `lease_lost`. */
  readonly code: string
  readonly message: string
}
