/** The options of components, checked before any resource is taken. */
import { CaissonError } from '../../base/errors.ts'
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
} from '../../base/option-checks.ts'
import { checkOfKeptRuns } from '../check-options.ts'
import { isTime } from '../sound-clock.ts'
import type {
  ComponentDirectoryGrant,
  ComponentWasiOptions,
  OpenComponentOptions,
  ResumeComponentOptions,
  RunComponentOptions,
} from './component-options.ts'

const LONGEST_NAME = 1_000

const OPEN: OptionChecks<OpenComponentOptions> = {
  grants: listOf('capability names and grants'),
  guard: anything, // the gate says itself what a guard is
  limits: anObject,
  signal: anAbortSignal,
  seed: anything, // the runtime says itself what a seed is
  nowMs: [(value) => typeof value === 'number' && isTime(value), 'a time in milliseconds since the epoch'],
  domain: aText,
  principal: aText,
  label: oneOf('plain', 'secret'),
  interfaces: anObject,
  wasi: anObject,
  from: [(value) => value instanceof Uint8Array, 'a Uint8Array'],
  onProgress: aFunction,
  cache: anObject,
  suspension: [
    (value) => value === 'asyncify' || value === 'jspi',
    '"asyncify" or "jspi" (`runComponent` has "reexecute", too)',
  ],
}

const RUN: OptionChecks<RunComponentOptions> = {
  grants: OPEN.grants,
  guard: OPEN.guard,
  limits: OPEN.limits,
  signal: OPEN.signal,
  seed: OPEN.seed,
  nowMs: OPEN.nowMs,
  domain: OPEN.domain,
  principal: OPEN.principal,
  label: OPEN.label,
  wasi: OPEN.wasi,
  onProgress: OPEN.onProgress,
  cache: OPEN.cache,
  export: [isShortText, `a text of at most ${LONGEST_NAME} characters`],
  args: listOf('values, one for each parameter'),
  name: [isShortText, `a text of at most ${LONGEST_NAME} characters`],
  collect: trueOrFalse,
  stateDigest: trueOrFalse,
  run: aText,
  scope: [isTexts, 'a list of texts'],
  stopAtCall: wholeFrom(1),
  suspension: oneOf('asyncify', 'jspi', 'reexecute'),
}

const WASI: OptionChecks<ComponentWasiOptions> = {
  args: [isTexts, 'a list of texts'],
  env: [isRecordOf((value) => typeof value === 'string'), 'an object of texts'],
  stdin: [(value) => typeof value === 'string' || value instanceof Uint8Array, 'a text or a Uint8Array'],
  directories: [isRecordOf(isRecord), 'an object of directories by absolute path'],
  clock: trueOrFalse,
  random: trueOrFalse,
  missing: oneOf('deny', 'refuse'),
}

const DIRECTORY: OptionChecks<ComponentDirectoryGrant> = {
  files: anObject,
  open: aFunction,
  writable: trueOrFalse,
}

/** @throws CaissonError `invalid_argument` */
export function checkOpenComponent(options: OpenComponentOptions): void {
  checkOptions(options, OPEN)
  if (options.suspension === 'jspi' && options.from !== undefined)
    throw new CaissonError(
      'invalid_argument',
      'A component whose stack is held (suspension: "jspi") is opened from no checkpoint.',
    )
  checkWasi(options.wasi)
}

/** @throws CaissonError `invalid_argument` */
export function checkRunComponent(options: RunComponentOptions): void {
  checkOptions(options, RUN)
  checkOfKeptRuns(options)
  checkWasi(options.wasi)
}

/** Those of components; those of `resume` are checked with it. @throws CaissonError `invalid_argument` */
export function checkResumeComponent(options: ResumeComponentOptions): void {
  const { onProgress, cache, suspension, directories } = options
  const own: Pick<RunComponentOptions, 'onProgress' | 'cache' | 'suspension'> = {
    ...(suspension !== undefined && { suspension }),
    ...(onProgress !== undefined && { onProgress }),
    ...(cache !== undefined && { cache }),
  }
  checkOptions(own, RUN)
  if (directories !== undefined) checkOptions<ComponentWasiOptions>({ directories }, WASI)
}

function checkWasi(wasi: ComponentWasiOptions | undefined): void {
  if (wasi === undefined) return
  checkOptions(wasi, WASI, [], 'wasi')
  for (const [path, directory] of Object.entries(wasi.directories ?? {}))
    checkOptions(directory, DIRECTORY, [], `wasi.directories["${path.slice(0, 40)}"]`)
}

function isShortText(value: unknown): boolean {
  return typeof value === 'string' && value.length <= LONGEST_NAME
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}

function isRecordOf(holds: (value: unknown) => boolean): (value: unknown) => boolean {
  return (value) => isRecord(value) && Object.values(value).every(holds)
}

function isRecord(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
