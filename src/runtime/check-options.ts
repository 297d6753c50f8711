/** The options of a runtime and of a guest, checked before any resource is taken. */
import { isDigest } from '../base/digest.ts'
import { CaissonError } from '../base/errors.ts'
import {
  aFunction,
  anAbortSignal,
  anObject,
  anything,
  aText,
  checkOptions,
  listOf,
  type OptionChecks,
  oneOf,
  trueOrFalse,
  wholeFrom,
  withMethods,
} from '../base/option-checks.ts'
import { loopRuleProblem } from '../capability/loop-guard.ts'
import type { PreparedCacheOptions } from '../component/core/prepared-cache.ts'
import type { Signer } from '../ports/signer.ts'
import type { CheckpointOptions } from './checkpoints.ts'
import type {
  OpenSessionOptions,
  RepeatOptions,
  RestoreOptions,
  ResumeOptions,
  RunOptions,
  RuntimeOptions,
  TurnOptions,
} from './options.ts'
import { isTime } from './sound-clock.ts'

const EFFECTS: readonly unknown[] = ['read', 'write', 'destructive']

const RUN: OptionChecks<RunOptions> = {
  input: anything,
  grants: listOf('capability names and grants'),
  limits: anObject,
  guard: [
    (value) => value === false || loopRuleProblem(value) === undefined,
    'false, or thresholds from 2 on: identicalCalls, identicalErrors, alternations, withoutProgress',
  ],
  signal: anAbortSignal,
  form: oneOf('auto', 'script', 'body', 'module'),
  language: oneOf('auto', 'js', 'ts'),
  fileName: [
    (value) => typeof value === 'string' && /^(?!caisson:)\P{Cc}{1,1000}$/u.test(value),
    'a text of 1 to 1000 characters without control characters that does not begin with "caisson:"',
  ],
  seed: anything, // the runtime says itself what a seed is
  nowMs: [(value) => typeof value === 'number' && isTime(value), 'a time in milliseconds since the epoch'],
  domain: aText,
  stateDigest: trueOrFalse,
  run: [isRunName, 'a name of 1 to 128 characters of A-Z a-z 0-9 . _ -, not beginning with a dot'],
  scope: [isListOfTexts, 'a list of texts'],
  atEnd: oneOf('wait', 'drop', 'suspend'),
  stopAtCall: wholeFrom(1),
  modules: anObject, // names and sources are checked where they are read
  loadModule: aFunction,
  importMap: anObject,
  principal: aText,
  label: oneOf('plain', 'secret'),
  thread: oneOf('host', 'worker'),
}

const SESSION: OptionChecks<OpenSessionOptions> = {
  grants: RUN.grants,
  limits: RUN.limits,
  guard: RUN.guard,
  seed: RUN.seed,
  domain: RUN.domain,
  principal: RUN.principal,
  label: RUN.label,
  thread: RUN.thread,
  language: RUN.language,
  modules: RUN.modules,
  loadModule: RUN.loadModule,
  importMap: RUN.importMap,
  from: [(value) => value instanceof Uint8Array, 'a Uint8Array'],
  fork: aText,
}

const TURN: OptionChecks<TurnOptions> = {
  input: RUN.input,
  limits: RUN.limits,
  signal: RUN.signal,
  language: RUN.language,
  fileName: RUN.fileName,
  stateDigest: RUN.stateDigest,
}

const GOING_ON: OptionChecks<Omit<RestoreOptions, 'fork'>> = {
  grants: RUN.grants,
  limits: RUN.limits,
  guard: RUN.guard,
  signal: RUN.signal,
  domain: RUN.domain,
  principal: RUN.principal,
  thread: RUN.thread,
  stateDigest: RUN.stateDigest,
  modules: RUN.modules,
  loadModule: RUN.loadModule,
  importMap: RUN.importMap,
}

const RESTORE: OptionChecks<RestoreOptions> = { ...GOING_ON, fork: aText }

const RESUME: OptionChecks<ResumeOptions> = {
  ...GOING_ON,
  scope: RUN.scope,
  changeScope: trueOrFalse,
  reexecute: trueOrFalse,
  stopAtCall: RUN.stopAtCall,
  checkpoint: [(value) => value instanceof Uint8Array, 'a Uint8Array'],
  answers: [isListOfAnswers, 'a list of answers: { id, value } or { id, error }'],
  decisions: [
    isListOfDecisions,
    'a list of decisions: { request, by, decision: "approve" } or { request, by, decision: "reject", reason }, where request is a digest',
  ],
  confirm: [isListOfCalls, 'a list of ids or digests of calls'],
  addFuel: wholeFrom(0),
}

const REPEAT: OptionChecks<RepeatOptions> = {
  grants: RUN.grants,
  limits: RUN.limits,
  signal: RUN.signal,
  domain: RUN.domain,
  principal: RUN.principal,
  thread: RUN.thread,
  stateDigest: RUN.stateDigest,
  reexecute: trueOrFalse,
}

const RUNTIME: OptionChecks<RuntimeOptions> = {
  capabilities: listOf('capabilities'),
  limits: anObject,
  guard: RUN.guard,
  maxMemoryBytes: wholeFrom(2 ** 20, 2 ** 31),
  concurrency: wholeFrom(1),
  concurrencyPerDomain: wholeFrom(1),
  instances: wholeFrom(1),
  keepInstances: wholeFrom(0),
  callLog: anObject,
  approver: anObject,
  approveEffects: [
    (value) => Array.isArray(value) && value.every((one) => EFFECTS.includes(one)),
    'a list of "read", "write" and "destructive"',
  ],
  lease: anObject,
  telemetry: anObject,
  onCapabilityError: [(value) => typeof value === 'function', 'a function'],
  clock: anObject,
  entropy: anObject,
  engines: anObject,
  engineId: aText,
  store: withMethods('a run store', 'putBlob', 'getBlob', 'head', 'setHead', 'append', 'entries', 'lease'),
  preparedCache: [isPreparedCache, '{ store, key }, with a key of 32 bytes'],
  leaseMs: wholeFrom(100, 3_600_000),
  receipts: [isReceiptOptions, '{ sign, states }, with a signer, and true or false'],
  checkpoints: anObject,
  scope: [isScope, 'a list of at most 1,000 texts of 1 to 10,000 characters'],
}

/** @throws CaissonError `invalid_argument` */
export function checkSessionOptions(options: OpenSessionOptions): void {
  checkOptions(options, SESSION)
}

/** @throws CaissonError `invalid_argument` */
export function checkTurnOptions(options: TurnOptions): void {
  checkOptions(options, TURN)
}

/** @throws CaissonError `invalid_argument` with `details: { option }` */
export function checkRunOptions(options: RunOptions): void {
  checkOptions(options, RUN)
  if (options.run !== undefined) {
    if (options.nowMs === undefined) return
    throw new CaissonError(
      'invalid_argument',
      'Option nowMs is not of kept runs: their records have their times.',
      {
        details: { option: 'nowMs' },
      },
    )
  }
  if (options.atEnd === 'suspend') throw ofKeptRuns('atEnd')
  checkOfKeptRuns(options)
}

/** That nothing is wanted that is of kept runs, of one without a name. @throws CaissonError as `checkRunOptions` */
export function checkOfKeptRuns(options: Pick<RunOptions, 'run' | 'stopAtCall' | 'scope'>): void {
  if (options.run !== undefined) return
  const option = (['stopAtCall', 'scope'] as const).find((name) => options[name] !== undefined)
  if (option !== undefined) throw ofKeptRuns(option)
}

function ofKeptRuns(option: string): CaissonError {
  return new CaissonError(
    'invalid_argument',
    `Option ${option} is of kept runs: give this one a name (option run).`,
    { details: { option } },
  )
}

/** @throws CaissonError `invalid_argument` with `details: { option }` */
export function checkResumeOptions(options: ResumeOptions): void {
  checkOptions(options, RESUME)
}

/** @throws CaissonError `invalid_argument` with `details: { option }` */
export function checkRepeatOptions(options: RepeatOptions): void {
  checkOptions(options, REPEAT)
}

export function isListOfAnswers(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.every(
      (answer: unknown) =>
        typeof answer === 'object' &&
        answer !== null &&
        'id' in answer &&
        Number.isSafeInteger(answer.id) &&
        'value' in answer !== 'error' in answer,
    )
  )
}

function isPreparedCache(value: unknown): boolean {
  const { store, key } = (value ?? {}) as Partial<PreparedCacheOptions>
  return typeof store?.get === 'function' && key instanceof Uint8Array && key.length === 32
}

function isReceiptOptions(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const { sign, states = false, ...others } = value as Readonly<Record<string, unknown>>
  if (typeof states !== 'boolean' || Object.keys(others).length > 0) return false
  if (sign === undefined) return true
  const { publicKey, sign: act } = (sign ?? {}) as Partial<Signer>
  return publicKey instanceof Uint8Array && publicKey.length === 32 && typeof act === 'function'
}

function isListOfDecisions(value: unknown): boolean {
  return Array.isArray(value) && value.every((one: unknown) => isDecision(one))
}

function isDecision(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const { request, by, comment = '', decision, reason } = value as Readonly<Record<string, unknown>>
  if (!isDigest(request) || typeof by !== 'string' || by === '' || typeof comment !== 'string') return false
  return decision === 'approve' || (decision === 'reject' && typeof reason === 'string')
}

function isListOfTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((text) => typeof text === 'string')
}

function isScope(value: unknown): boolean {
  return (
    isListOfTexts(value) &&
    (value as readonly string[]).length <= 1_000 &&
    (value as readonly string[]).every(({ length }) => length >= 1 && length <= 10_000)
  )
}

export function isListOfCalls(value: unknown): boolean {
  return Array.isArray(value) && value.every((call) => Number.isSafeInteger(call) || typeof call === 'string')
}

/** Whether a store can keep a run under this name. */
export function isRunName(name: unknown): boolean {
  return typeof name === 'string' && /^(?!\.)[A-Za-z0-9._-]{1,128}$/.test(name)
}

/** @throws CaissonError `invalid_argument` with `details: { option }` */
export function checkRestoreOptions(options: RestoreOptions): void {
  checkOptions(options, RESTORE)
}

const CHECKPOINTS: OptionChecks<CheckpointOptions> = {
  keys: anObject, // their own shape is checked where they are used
  limits: anObject,
  every: anObject,
}

const POLICY: OptionChecks<NonNullable<CheckpointOptions['every']>> = {
  calls: wholeFrom(1),
  bytes: wholeFrom(1),
  records: wholeFrom(1),
  ms: wholeFrom(0),
  links: wholeFrom(0, 1_000),
}

/** @throws CaissonError `invalid_argument` with `details: { option }` */
export function checkRuntimeOptions(options: RuntimeOptions): void {
  checkOptions(options, RUNTIME)
  if (options.checkpoints === undefined) return
  checkOptions(options.checkpoints, CHECKPOINTS, [], 'checkpoints')
  if (options.checkpoints.every !== undefined)
    checkOptions(options.checkpoints.every, POLICY, [], 'checkpoints.every')
}
