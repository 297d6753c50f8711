/** What the runtime lends to runs of plans. */
import type { Digest } from '../../base/digest.ts'
import type { LedgerState } from '../../capability/budget.ts'
import type { Gate } from '../../capability/gate.ts'
import type { Grant } from '../../capability/grant.ts'
import type { ImagePolicy } from '../../journal/journal-image.ts'
import type { MachineStart } from '../../machine/turn.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Entropy } from '../../ports/entropy.ts'
import type { Lease } from '../../ports/lease.ts'
import type { SignatureCheck } from '../../ports/signer.ts'
import type { Telemetry, TelemetrySpan } from '../../ports/telemetry.ts'
import type { EntrySealOptions } from '../../snapshot/run-log/entry-seal.ts'
import type { RepeatOptions, ResumeOptions, RunOptions } from '../options.ts'
import type { Outcome } from '../outcome.ts'
import type { RunOwner } from '../run-owner.ts'
import type { WatchedStore } from '../watched-store.ts'
import type { KnownStandings } from './known-standings.ts'
import type { PlanShelf } from './plan-record.ts'
import type { PlanGateOptions } from './plan-work.ts'
import type { WasmCheckParts } from './wasm-check.ts'
import type { WasmTools } from './wasm-work.ts'

export interface PlanRunParts {
  readonly store: WatchedStore
  readonly leaseMs: number
  /** Id of the engine build. */
  readonly engine: string
  readonly sealing: EntrySealOptions
  /** When the state of a run is kept as an image beside its journal. */
  readonly imageEvery?: ImagePolicy | undefined
  /** Left out where signatures cannot be checked. */
  readonly signatures: SignatureCheck | undefined
  /** The host's own, whatever the time in guests is. */
  readonly hostClock: Clock
  readonly entropy: Entropy
  readonly plans: PlanShelf
  readonly standings: KnownStandings
  /** Versions of the tools of this runtime, for those that are named. @throws CaissonError `unknown_capability` */
  readonly tools: (names: readonly string[]) => Readonly<Record<string, Digest>>
  /** Whether the states that programs end in are recorded, as digests. */
  readonly states: boolean
  /** What they reach. */
  readonly scope: readonly string[]
  readonly openGate: (grants: readonly Grant[], options: PlanGateOptions & { readonly lease: Lease }) => Gate
  /**
   * @param under what it is told to be a part of; left out: it is not told
   * @param key of the run, where it has one: what is kept of the program is encrypted under it
   */
  readonly runProgram: (
    source: string,
    options: RunOptions,
    under?: TelemetrySpan,
    key?: Uint8Array,
  ) => Promise<Outcome>
  /** What a program is started with, but for what it may call. */
  readonly startOf: (source: string, options: RunOptions) => Promise<MachineStart>
  readonly resumeProgram: (
    run: string,
    options: ResumeOptions,
    under?: TelemetrySpan,
    key?: Uint8Array,
  ) => Promise<Outcome>
  readonly wasm: WasmTools
  /** What is known here of the WebAssembly of plans. */
  readonly wasmCheck: () => Promise<Omit<WasmCheckParts, 'bytesOf'>>
  readonly telemetry?: Telemetry | undefined
  /** Takes a kept run again, as its record has it. */
  readonly repeatProgram: (run: string, options: RepeatOptions, key?: Uint8Array) => Promise<Outcome>
  /** The digest that a checkpoint goes by, of its bytes. @throws CaissonError `corrupted` */
  readonly inspect: (checkpoint: Uint8Array) => Promise<Digest>
  /** What the calls of a kept run took of its grants, by its record; undefined where there is none. */
  readonly tookBefore: (owner: RunOwner, key?: Uint8Array) => Promise<LedgerState['accounts'] | undefined>
  /** Entries were added to the journal of a run. */
  readonly changed: (owner: RunOwner) => void
}
