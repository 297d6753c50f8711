/** The options of modules, checked before any resource is taken. */

import {
  aFunction,
  anAbortSignal,
  anObject,
  anything,
  aText,
  checkOptions,
  type OptionChecks,
  oneOf,
  trueOrFalse,
  wholeFrom,
} from '../../base/option-checks.ts'
import { areModuleCalls } from '../../component/module/module-call.ts'
import { checkOfKeptRuns } from '../check-options.ts'
import type { PrepareModuleOptions, ResumeModuleOptions, RunModuleOptions } from './module-options.ts'

const LONGEST_NAME = 1_000

const HOW_PREPARED: OptionChecks<Omit<PrepareModuleOptions, 'startImage'>> = {
  limits: anObject,
  suspendable: [(value) => typeof value === 'boolean' || value === 'auto', 'true, false or "auto"'],
  onProgress: aFunction,
  signal: anAbortSignal,
  cache: anObject,
}

const PREPARE: OptionChecks<PrepareModuleOptions> = { ...HOW_PREPARED, startImage: anObject }

const RUN: OptionChecks<RunModuleOptions> = {
  ...HOW_PREPARED,
  name: [isShortText, `a text of at most ${LONGEST_NAME} characters`],
  args: [isTexts, 'a list of texts'],
  env: [isRecordOfTexts, 'an object of texts'],
  stdin: [(value) => typeof value === 'string' || value instanceof Uint8Array, 'a text or a Uint8Array'],
  directories: [isRecordOfObjects, 'an object of directories by absolute path'],
  clock: trueOrFalse,
  random: trueOrFalse,
  entry: [
    (value) => isShortText(value) || areModuleCalls(value),
    `a text of at most ${LONGEST_NAME} characters, or a list of calls: { name, args }`,
  ],
  startUp: [areModuleCalls, 'a list of calls: { name, args }'],
  missing: oneOf('refuse', 'trap'),
  grants: anything, // the gate says itself what grants are
  guard: anything,
  seed: anything,
  nowMs: [(value) => typeof value === 'number' && value >= 0, 'a time in milliseconds since the epoch'],
  domain: aText,
  stateDigest: trueOrFalse,
  run: aText,
  scope: [isTexts, 'a list of texts'],
  stopAtCall: wholeFrom(1),
  principal: aText,
  label: oneOf('plain', 'secret'),
}

/** @throws CaissonError `invalid_argument` */
export function checkRunModule(options: RunModuleOptions): void {
  checkOptions(options, RUN)
  checkOfKeptRuns(options)
}

/** @throws CaissonError `invalid_argument` */
export function checkPrepareModule(options: PrepareModuleOptions): void {
  checkOptions(options, PREPARE)
  const { startImage } = options
  if (startImage !== undefined) checkOptions(startImage, RUN, [], 'startImage')
}

/** Those of modules; those of `resume` are checked with it. @throws CaissonError `invalid_argument` */
export function checkResumeModule({
  suspendable,
  onProgress,
  cache,
  directories,
}: ResumeModuleOptions): void {
  const own: Pick<RunModuleOptions, 'suspendable' | 'onProgress' | 'cache' | 'directories'> = {
    ...(suspendable !== undefined && { suspendable }),
    ...(onProgress !== undefined && { onProgress }),
    ...(cache !== undefined && { cache }),
    ...(directories !== undefined && { directories }),
  }
  checkOptions(own, RUN)
}

function isShortText(value: unknown): boolean {
  return typeof value === 'string' && value.length <= LONGEST_NAME
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}

function isRecordOfTexts(value: unknown): boolean {
  return isRecord(value) && Object.values(value).every((item) => typeof item === 'string')
}

function isRecordOfObjects(value: unknown): boolean {
  return isRecord(value) && Object.values(value).every(isRecord)
}

function isRecord(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
