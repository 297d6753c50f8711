/**
 * What all stages of one gate share: the ports it calls, its bounds, and where causes go that no guest may see.
 */
import type { ErrorCode } from '../../base/errors.ts'
import type { Approver } from '../../ports/approver.ts'
import type { CallLog } from '../../ports/call-log.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Lease } from '../../ports/lease.ts'
import type { ValueLimits } from '../../values/limits.ts'
import type { Approvals } from '../approvals.ts'
import type { Effect, InvokeContext } from '../capability.ts'

/** Why a call failed, for the host's eyes. Never shown to a guest. */
export interface CapabilityFailure {
  readonly capability: string
  /** Id of the call within its guest; 0 for a sync call, which has none. */
  readonly callId: number
  /** What the guest was told. */
  readonly code: ErrorCode
  /**
   * What was thrown, as it was; where nothing was thrown, what a schema complained about, as text. It can hold
   * paths, secrets, and words of a guest: escape it where it is shown.
   */
  readonly cause: unknown
}

/** Receives the causes of failed calls. What it throws is dropped. */
export type ReportToHost = (failure: CapabilityFailure) => void

/** What a gate is made of, besides grants and ledger. */
export interface GateParts {
  readonly clock: Clock
  /** Unique per guest and tenant; idempotency keys are derived from it. */
  readonly guestId: string
  readonly callLog: CallLog | undefined
  readonly approver: Approver | undefined
  /** In place of an approver: what people decided, where they are not waited for. */
  readonly approvals: Approvals | undefined
  /** What they decided over calls that were let in. */
  readonly decisions: InvokeContext['decisions']
  /** Of which calls need an approval, whatever grants and capabilities say. */
  readonly approveEffects: ReadonlySet<Effect>
  readonly lease: Lease | undefined
  /** What approvals are bound to. */
  readonly digest: (value: unknown) => string | Promise<string>
  readonly report: ReportToHost
  /** Told before an attempt is made again: the key of the call, the number of the attempt, why. */
  readonly retrying?: ((idempotencyKey: string, attempt: number, because: unknown) => void) | undefined
  readonly argsLimits: ValueLimits
  readonly resultLimits: ValueLimits
  /** Nodes, counted as a tree, of a value that a schema is run over. */
  readonly validatedNodes: number
}

/**
 * Bound on what schemas are run over. Validators are foreign code that walks graphs as trees and may build an
 * issue of several hundred bytes per wrong node: at this bound they stay under 50 MB.
 */
export const DEFAULT_VALIDATED_NODES = 100_000
