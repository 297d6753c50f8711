/** What every entry point exports beside its own `openRuntime`. */
export { CaissonError, ERROR_CODES, type ErrorCode, type ErrorDetails } from '../base/errors.ts'
export type { AccountState } from '../capability/account-state.ts'
export { aggregateOf, type RequestAggregate } from '../capability/aggregate.ts'
export type { Allowance, Shortfall, Taking } from '../capability/allowance.ts'
export type { AskedRequest } from '../capability/approvals.ts'
export type { Answer, GuestFailure, PendingCall } from '../capability/call.ts'
export type {
  AsyncCapability,
  CallDecision,
  Capability,
  Cost,
  Effect,
  GuestLife,
  InvokeContext,
  RetryPolicy,
  SyncCapability,
} from '../capability/capability.ts'
export { capability } from '../capability/define-capability.ts'
export type { CapabilityFailure } from '../capability/gate/gate-parts.ts'
export { type Grant, type GrantRule, grant } from '../capability/grant.ts'
export { inputJsonSchemaOf, outputJsonSchemaOf } from '../capability/json-schema.ts'
export { DEFAULT_LOOP_GUARD, type LoopGuardRule } from '../capability/loop-guard.ts'
export type { PersonDecision, PersonRequest } from '../capability/person-request.ts'
export type { FunctionType as WitFunctionType, Kind, Parameter, WitType } from '../component/abi/wit-type.ts'
export type { HostInterfaces } from '../component/component-imports.ts'
export type { ComponentEnd, ComponentOutcome, ComponentUsage } from '../component/component-outcome.ts'
export type { ComponentResult } from '../component/component-result.ts'
export type { PreparedCacheOptions } from '../component/core/prepared-cache.ts'
export type { ModuleResult } from '../component/module/module-end.ts'
export type {
  CallOptions as ComponentCallOptions,
  GoOnOptions as ComponentGoOnOptions,
  LiveComponent,
  OpenComponent as ComponentInstance,
} from '../component/open-component.ts'
export type { PrebuiltComponent, PrebuiltManifest } from '../component/prebuilt-manifest.ts'
export { type DefinedPlan, definePlan } from '../graph/plan/define-plan.ts'
export { diffPlans, needsApproval, type PlanChange } from '../graph/plan/diff-plan.ts'
export {
  embedSources,
  type ReadProgram,
  type ReadSource,
  type ReadWasm,
} from '../graph/plan/embed-sources.ts'
export { parsePlan } from '../graph/plan/parse-plan.ts'
export type { Plan, PlanGrant, PlanNode, Scope, Template } from '../graph/plan/plan.ts'
export { PLAN_JSON_SCHEMA } from '../graph/plan/plan-shape.ts'
export { planMermaid } from '../graph/render/plan-mermaid.ts'
export { planSvg } from '../graph/render/plan-svg.ts'
export type { Decision, OpenRequest } from '../graph/run/decisions.ts'
export type { DoubtAnswer, OpenDoubt } from '../graph/run/doubts.ts'
export { type Finding, type FindingKind, findingsOf } from '../graph/run/findings.ts'
export type { Failures, Latency } from '../graph/run/report-figures.ts'
export type { EventType, Failure, GrantUsed, RecordedEvent, RunEvent, Used } from '../graph/run/run-event.ts'
export {
  type CapabilityReport,
  type NodeKindReport,
  type NodeReport,
  type RunReport,
  reportOf,
} from '../graph/run/run-report.ts'
export type { Receipt, ReceiptCall, SignedReceipt } from '../journal/receipt.ts'
export { DEFAULT_LIMITS, type LimitName, type Limits } from '../machine/limits.ts'
export type { RunUsage } from '../machine/outcome.ts'
export type { GuestError, LogEntry, LogLevel, ProgramForm, Usage } from '../machine/turn.ts'
export type { ApprovalDecision, ApprovalRequest, Approver } from '../ports/approver.ts'
export type { CallIntent, CallLog, CallResult } from '../ports/call-log.ts'
export type { Clock } from '../ports/clock.ts'
export type { CompiledModule, EngineSource, LoadedEngine } from '../ports/engine-source.ts'
export type { Entropy } from '../ports/entropy.ts'
export type { Lease } from '../ports/lease.ts'
export type { PreparedStore } from '../ports/prepared-store.ts'
export type { Collected, CollectOptions, RunHead, RunLease, RunStore } from '../ports/run-store.ts'
export type { SignatureCheck, Signer } from '../ports/signer.ts'
export type {
  SpanAttributes,
  SpanEnd,
  SpanError,
  SpanEvent,
  SpanEventAttributes,
  SpanKind,
  SpanStart,
  Telemetry,
  TelemetryEvent,
  TelemetrySpan,
} from '../ports/telemetry.ts'
export type { ImportMap } from '../program/import-map.ts'
export { callDigest } from '../runtime/call-digest.ts'
export type { CheckpointOptions, CheckpointPolicy } from '../runtime/checkpoints.ts'
export {
  type ComponentCapabilityDefinition,
  componentCapability,
} from '../runtime/components/component-capability.ts'
export type {
  ComponentDirectoryGrant,
  ComponentWasiOptions,
  OpenComponentOptions,
  OpenLiveComponentOptions,
  ResumeComponentOptions,
  RunComponentOptions,
  RunComponentOutcome,
  Suspension,
} from '../runtime/components/component-options.ts'
export type { Guest } from '../runtime/guest.ts'
export type { GuestSession } from '../runtime/guest-session.ts'
export type { LoadModule, ModuleOptions, ModuleSource } from '../runtime/module-options.ts'
export type {
  HandAnswer,
  OpenSessionOptions,
  ReceiptOptions,
  RepeatOptions,
  RestoreOptions,
  ResumeOptions,
  RunOptions,
  RuntimeOptions,
  TurnOptions,
} from '../runtime/options.ts'
export type { Outcome, UnwrittenCheckpoints } from '../runtime/outcome.ts'
export type { ForkOptions } from '../runtime/plans/fork-run.ts'
export type { PlanGuest } from '../runtime/plans/plan-guests.ts'
export type {
  ApproveOptions,
  CheckPlanOptions,
  CompactOptions,
  EraseOptions,
  EventsOptions,
  PlanOutcome,
  PlanRun,
  PlanRunOptions,
  PositionedEvent,
  ProposeOptions,
  ReasonOptions,
  ResumePlanOptions,
  StartOptions,
} from '../runtime/plans/plan-run.ts'
export type { RunCut } from '../runtime/plans/run-cut.ts'
export type { Erased } from '../runtime/plans/run-key.ts'
export type { NodeView, RunView } from '../runtime/plans/run-view.ts'
export type { Difference } from '../runtime/plans/verify/difference.ts'
export type { Unchecked, Verification, VerifyOptions } from '../runtime/plans/verify/verification.ts'
export type { Runtime } from '../runtime/runtime.ts'
export type {
  ModuleDirectoryGrant,
  ModuleOutcome,
  PreparedModule,
  PrepareModuleOptions,
  ResumeModuleOptions,
  RunModuleOptions,
} from '../runtime/wasi/module-options.ts'
export type { CheckpointKey, CheckpointKeys, KeyRing } from '../snapshot/container/checkpoint-keys.ts'
export type { CheckpointLimits } from '../snapshot/container/checkpoint-limits.ts'
