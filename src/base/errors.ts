/**
 * The one error type of the library.
 *
 * Expected ends of a guest are data (`Outcome`), never throws. A `CaissonError` is thrown to the host
 * when it used the library wrongly, when something refused to go on, or when a resource is missing.
 * Guest-facing failures carry the same codes, with messages that are redacted and bounded.
 */

/** Every code, with the sentence that `docs/errors.md` shows for it. Closed: adding one is a minor release. */
export const ERROR_CODES = {
  // The host used the API wrongly.
  invalid_argument: 'An argument has the wrong type or an impossible value.',
  invalid_limit: 'A limit is missing a finite value, is negative, or is implausibly large or small.',
  invalid_capability: 'A capability definition is incomplete or contradicts itself.',
  schema_required: 'A JSON Schema is needed here and the capability has none that can be derived.',
  busy: 'The machine is inside a turn; it takes one turn at a time.',
  disposed: 'The object was disposed and cannot be used again.',
  unknown_call: 'No pending call has this id (it may have been settled before).',
  no_timer: 'The guest waits for no timer that could be fired.',
  unsupported: 'This runtime lacks what was asked for.',

  // WebAssembly modules and engines.
  invalid_module: 'The bytes are not a valid WebAssembly core module.',
  invalid_component: 'The bytes are not a valid WebAssembly component.',
  missing_imports: 'The component imports what nobody grants it; all of it is listed in the details.',
  unsupported_feature: 'The module uses a WebAssembly feature that cannot be metered.',
  engine_unavailable: 'The engine build with this id is not at hand.',
  engine_mismatch: 'The engine is another one than the manifest, or the checkpoint, names.',
  corrupted: 'Data that came out of a guest, a file or a snapshot contradicts itself; it was refused.',
  isolate_destroyed: 'The isolate trapped or was destroyed earlier and cannot be used again.',
  machine_lost: 'The thread that ran the guest died, or the host had no room for its memory.',
  native_stack_low: "The host's own stack is too small to start a turn here.",

  // Values that cross the bridge.
  value_refused:
    'A value cannot cross the bridge (function, symbol, proxy, ...); the path is in the message.',
  value_too_large: 'A value exceeds the limit on bytes or nodes.',
  value_too_deep: 'A value is nested deeper than the limit.',

  // The gate.
  unknown_capability: 'No capability has this name.',
  not_granted: 'The capability exists, and this guest has no grant for it.',
  revoked: 'The grant was taken back.',
  denied: 'A constraint or a policy forbids this call.',
  approval_rejected: 'A person, or the approver in their place, said no.',
  approval_mismatch:
    'The decision is not over a request that is open (decided already, asked anew, another one), or what is there reaches further than was approved.',
  approval_expired: 'The time in which the request could be decided is over.',
  invalid_arguments: "The arguments do not match the capability's input schema.",
  invalid_result: "The result does not match the capability's output schema.",
  result_too_large: 'The result exceeds the limit on bytes delivered to a guest.',
  budget_exhausted: 'An allowance (calls, bytes, cost) is used up.',
  rate_limited: 'Too many calls in the time window of the grant.',
  loop_detected: 'The same is done again and again, and nothing new comes of it: it was stopped.',
  timeout: 'The call did not settle within its timeout.',
  aborted: 'The run was aborted while the call was in flight.',
  capability_failed: 'The capability threw; the cause stays with the host.',
  not_recorded:
    'The call log could not record the call or its result; the run stops rather than act unrecorded.',
  lease_lost: 'This worker no longer holds the run and must not act for it.',

  // Checkpoints and stores.
  checkpoint_refused:
    'The checkpoint is whole, and may not be used here: another tenant, run, principal, key or set of grants, or a newer one exists.',
  checkpoint_too_large: 'The checkpoint, or the memory that it describes, is larger than the limits allow.',
  encryption_required: 'The guest may hold secrets, and no key to encrypt its checkpoints is configured.',
  in_doubt: 'The call was issued before a restore, and whether it took effect is not known.',
  diverged: 'A restored guest did something else than the record of its run says.',
  store_conflict: 'Somebody else changed or holds the run in the store.',
  store_failed: 'The store could not do it; what it acknowledged before is intact.',

  // Plans.
  invalid_plan: 'A plan is malformed or contradicts itself; what is wrong and where is in the details.',
  confirmation_required:
    'The run stands still, and goes on when somebody confirms exactly the point at which it stands.',
  tool_changed: 'A tool describes itself in another way than when its use was approved.',
  invalid_transition: 'The run, or a node of it, is in a state that this cannot follow.',
  unknown_event: 'Nothing in the run waits for an event of this name now.',

  // Host bindings.
  path_denied: 'The path leads out of the granted directory, or is not a plain file or directory.',
  not_found: 'The named thing does not exist.',
  already_exists: 'The named thing exists already.',
  erased: 'The value was erased: the key that it was encrypted under was destroyed.',
  quota_exceeded: 'A quota on bytes or entries is used up.',
  network_denied: 'The address, host, port or scheme is not on the allow-list.',
  network_failed: 'The network request failed.',
  body_lost: 'The rest of a response body is not there any more: the request can be made again.',
  query_failed: 'The database refused the query; the SQLSTATE is in the details.',
} as const

/** A stable, machine-readable reason. The set is closed. */
export type ErrorCode = keyof typeof ERROR_CODES

/** Plain data that says where and what, for machines. Never carries secrets or guest values. */
export type ErrorDetails = Readonly<Record<string, unknown>>

const BRAND = 'caisson.error'

/**
 * The error that every part of the library throws.
 *
 * `message` says what was wrong, where, and what to do. `code` is stable. `cause` stays on the host side:
 * it is never shown to a guest.
 */
export class CaissonError extends Error {
  override readonly name = 'CaissonError'
  readonly code: ErrorCode
  readonly details: ErrorDetails
  /** A string, so that errors of two copies of the package recognise each other. */
  readonly brand: string = BRAND

  constructor(code: ErrorCode, message: string, options?: { details?: ErrorDetails; cause?: unknown }) {
    super(message, options?.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.details = options?.details ?? {}
  }

  /** Whether `value` is a `CaissonError` (of this or another copy of the package), optionally with `code`. */
  static is(value: unknown, code?: ErrorCode): value is CaissonError {
    return (
      typeof value === 'object' &&
      value !== null &&
      (value as { brand?: unknown }).brand === BRAND &&
      (code === undefined || (value as { code?: unknown }).code === code)
    )
  }
}

/** What was thrown, as an error: anything can be thrown. */
export function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown), { cause: thrown })
}
