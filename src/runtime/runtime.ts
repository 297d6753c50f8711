/** What an embedder holds: capabilities, an engine and pools, ready to run guests. See `pooled-runtime.ts`. */
import type { LiveComponent, OpenComponent } from '../component/open-component.ts'
import type { PrebuiltComponent } from '../component/prebuilt-manifest.ts'
import type { DefinedPlan } from '../graph/plan/define-plan.ts'
import type { Plan } from '../graph/plan/plan.ts'
import type { SignedReceipt } from '../journal/receipt.ts'
import type {
  OpenComponentOptions,
  OpenLiveComponentOptions,
  ResumeComponentOptions,
  RunComponentOptions,
  RunComponentOutcome,
} from './components/component-options.ts'
import type { Guest } from './guest.ts'
import type { GuestSession } from './guest-session.ts'
import type {
  OpenSessionOptions,
  RepeatOptions,
  RestoreOptions,
  ResumeOptions,
  RunOptions,
} from './options.ts'
import type { Outcome } from './outcome.ts'
import type { ForkOptions } from './plans/fork-run.ts'
import type {
  CheckPlanOptions,
  CompactOptions,
  EraseOptions,
  PlanRun,
  PlanRunOptions,
  ProposeOptions,
} from './plans/plan-run.ts'
import type { Verification, VerifyOptions } from './plans/verify/verification.ts'
import type {
  ModuleOutcome,
  PreparedModule,
  PrepareModuleOptions,
  ResumeModuleOptions,
  RunModuleOptions,
} from './wasi/module-options.ts'

/** Runs guests. Open it once, use it for many, close it. */
export interface Runtime {
  /** Id of the engine build. */
  readonly engine: string
  /**
   * Runs a program to its end. Expected ends are data: this rejects only when it was used wrongly.
   * @throws CaissonError `invalid_argument`, `invalid_limit`, `unknown_capability`, `aborted`, `disposed`, `native_stack_low`
   */
  run(source: string, options?: RunOptions): Promise<Outcome>
  /** Starts a program and stops at its first calls: see `Guest`. */
  start(source: string, options?: RunOptions): Promise<Guest>
  /**
   * Opens a guest that is told one program after the other, as at a prompt: see `GuestSession`.
   * @throws CaissonError `invalid_argument`, `invalid_limit`, `unknown_capability`, `disposed`; with `from` as `restore`
   */
  openSession(options?: OpenSessionOptions): Promise<GuestSession>
  /**
   * Takes up a guest from a checkpoint that stands alone. Nothing is run or invoked until it is stepped, or told to
   * `finish`. Its pending calls pass the gate of now; no record tells whether they took effect before, so those that
   * are not idempotent are in doubt.
   * @throws CaissonError `corrupted`, `checkpoint_refused`, `checkpoint_too_large`, `engine_mismatch`,
   *   `encryption_required`, `invalid_argument`, `invalid_limit`, `unknown_capability`, `aborted`, `disposed`
   */
  restore(checkpoint: Uint8Array, options?: RestoreOptions): Promise<Guest>
  /**
   * Goes on with a run of the store: from its last checkpoint, through the answers that were recorded since, to its
   * end. Calls of which nobody knows whether they took effect are made again if they are idempotent or confirmed;
   * otherwise the run is suspended when it waits for nothing else. A run that has ended gives its outcome again.
   * @throws CaissonError as `restore`; `not_found`, `store_conflict`, `lease_lost`, `store_failed`, `unknown_call`
   */
  resume(run: string, options?: ResumeOptions): Promise<Outcome>
  /**
   * Takes a run of the store again, as its record has it: from its last checkpoint, with the recorded answers at their
   * times and in their order. Invokes nothing, changes nothing, and needs nobody's leave to write. It ends as the run
   * ended, `suspended` where the record ends before, or as `failed` with code `diverged`.
   * @throws CaissonError as `restore`; `not_found`, `store_failed`
   */
  repeat(run: string, options?: RepeatOptions): Promise<Outcome>
  /**
   * Proposes a run of a plan: it is kept in the store, and does nothing before somebody approves exactly this. WebAssembly
   * that it names is looked into as `checkPlan` does.
   * @throws CaissonError `invalid_plan`, `invalid_argument`, `unknown_capability`, `already_exists`, `store_failed`, `disposed`;
   *   `not_found` with `details: { digest }` for WebAssembly that is neither given nor in the store
   */
  propose(plan: Plan | DefinedPlan, options: ProposeOptions): Promise<PlanRun>
  /**
   * Checks a plan as `definePlan` does, and the WebAssembly that its nodes name: what it is, whether it exports what they
   * call and takes so many arguments, and that it imports nothing which nobody grants. Nothing of it is run, and nothing
   * is kept. `details.problems` has all that is wrong, with the `code` that running the node would end with.
   * @throws CaissonError `invalid_plan`, `invalid_argument`, `value_too_large`, `corrupted`, `store_failed`, `disposed`;
   *   `not_found` with `details: { digest }` for WebAssembly that is neither given nor in the store
   */
  checkPlan(plan: Plan | DefinedPlan, options?: CheckPlanOptions): Promise<DefinedPlan>
  /**
   * A run of a plan that is in the store, whoever proposed it.
   * @throws CaissonError `not_found`, `corrupted`, `checkpoint_refused`, `invalid_argument`, `store_failed`, `disposed`
   */
  planRun(run: string, options?: PlanRunOptions): Promise<PlanRun>
  /**
   * A new run from a point of another one: the first `at` events have happened in it too, and nothing of what came after.
   * Its keys and random streams are its own. It stands still until somebody confirms its point with `resume`.
   * @throws CaissonError `invalid_transition` where something was under way in the world at the point, `already_exists`,
   *   and as `planRun`
   */
  fork(run: string, options: ForkOptions): Promise<PlanRun>
  /**
   * Looks at a run of a plan again, from its record alone: that nothing in it was changed, and that all that can be
   * evaluated and executed again comes out the same, to the last unit of fuel. A difference is data, and names its place.
   * @throws CaissonError `not_found`, `invalid_argument`, `unsupported`, `aborted`, `store_failed`, `disposed`
   */
  verify(run: string, options?: VerifyOptions): Promise<Verification>
  /**
   * Receipts of all attempts of nodes of a run that have ended, in their order: signed, where the runtime has a signer.
   * @throws CaissonError as `planRun`
   */
  receipts(run: string, options?: PlanRunOptions): Promise<readonly SignedReceipt[]>
  /**
   * Erases the values of a run that has ended: the key that they are encrypted under is destroyed, and the logs and
   * checkpoints of its programs are removed. Its journal, and who signed it, can be verified as before. With `unreadable`, also
   * of a run whose journal cannot be read.
   * @throws CaissonError `invalid_transition` for a run that has not ended, `unsupported` for one that was not proposed as
   *   `erasable` or a store that removes nothing, `store_conflict`, and as `planRun`
   */
  erase(run: string, options: EraseOptions): Promise<void>
  /**
   * Cuts the journal of a run that has ended, and the logs and checkpoints of its programs: a statement of what it was stands in
   * its place, with digests of the journal, the state and all receipts, signed where the runtime has a signer.
   * @throws CaissonError `invalid_transition` for a run that has not ended, `value_too_large` for a state of more than 16 MiB,
   *   `unsupported` where the store removes nothing, `store_conflict`, and as `planRun`
   */
  compact(run: string, options: CompactOptions): Promise<void>
  /**
   * A run of a plan as one file: journal, values, and the logs of its programs, with a digest, and a MAC where there is a key.
   * What was encrypted in the store is encrypted in it.
   * @throws CaissonError `store_conflict` while somebody drives it, `invalid_transition` for a run whose journal was cut,
   *   `checkpoint_too_large` above 1 GiB, `unsupported` where the
   *   store cannot list runs, and as `planRun`
   */
  exportRun(run: string, options?: PlanRunOptions): Promise<Uint8Array>
  /**
   * Takes over what was exported, under its own name. It is read-only until somebody resumes it with the `point` of its view.
   * @throws CaissonError `corrupted` with its place, `checkpoint_refused` for what is of another key or trust domain,
   *   `already_exists`, `unsupported`, `store_failed`, `disposed`; nothing of it is in the store then that anybody finds
   */
  importRun(bytes: Uint8Array, options?: PlanRunOptions): Promise<PlanRun>
  /**
   * Opens a WASI 0.2 component, from its bytes or as `caisson build` wrote it: checks and meters its core modules, links them and runs their start functions. What it
   * imports stands behind `interfaces`, or it is refused with the list of what is missing. Its exports are called one at a
   * time; expected ends of a call are data. Dispose it when it is not needed any more.
   * @throws CaissonError `invalid_component`, `invalid_module`, `unsupported_feature`, `missing_imports`,
   *   `invalid_argument`, `invalid_limit`, `aborted`, `disposed`; `corrupted` where its start functions failed
   */
  openComponent(
    source: Uint8Array | PrebuiltComponent,
    options: OpenLiveComponentOptions,
  ): Promise<LiveComponent>
  openComponent(
    source: Uint8Array | PrebuiltComponent,
    options?: OpenComponentOptions,
  ): Promise<OpenComponent>
  /**
   * Opens a component, calls one export of it, and lets go of it: a guest that is run to its end, as `run` does with a program.
   * Kept under a name (`run`), it is gone on with by `resumeComponent`.
   * @throws CaissonError as `openComponent` and `run`
   */
  runComponent(
    source: Uint8Array | PrebuiltComponent,
    options?: RunComponentOptions,
  ): Promise<RunComponentOutcome>
  /**
   * Goes on with a kept run of a component, as `resume` does with one of a program. It has to be the same component.
   * @throws CaissonError as `resume` and `runComponent`
   */
  resumeComponent(
    run: string,
    source: Uint8Array | PrebuiltComponent,
    options?: ResumeComponentOptions,
  ): Promise<RunComponentOutcome>
  /**
   * Runs a WASI preview-1 module to its end: a command, or an export of another module. It finds what the options give it,
   * and nothing of this machine. Where it completed, `value` is a `ModuleResult`: exit code, output, files. Kept under a
   * name (`run`), it is gone on with by `resumeModule`.
   * @throws CaissonError `invalid_module`, `unsupported_feature`, `missing_imports`, `unsupported`, `timeout` (of its
   *   preparation), and as `run`
   */
  runModule(module: Uint8Array | PreparedModule, options?: RunModuleOptions): Promise<ModuleOutcome>
  /**
   * Goes on with a kept run of a module, as `resume` does with one of a program. It has to be the same module.
   * @throws CaissonError as `resume` and `runModule`
   */
  resumeModule(
    run: string,
    module: Uint8Array | PreparedModule,
    options?: ResumeModuleOptions,
  ): Promise<ModuleOutcome>
  /**
   * Prepares a module, which takes seconds where it is large, for `runModule` here or elsewhere: in a page under a strict
   * policy, or in an edge worker.
   * @throws CaissonError `invalid_module`, `unsupported_feature`, `unsupported`, `timeout`, `aborted`, `invalid_limit`
   */
  prepareModule(module: Uint8Array, options?: PrepareModuleOptions): Promise<PreparedModule>
  /**
   * Refuses new guests, lets the ones at work finish, and gives idle memory back. Resolves when the threads that
   * waited for a guest have ended: await it before `process.exit`, which may crash Node while they end.
   */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}
