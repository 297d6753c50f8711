/**
 * Makes a guest of any core module: checked, made suspendable where that is asked for, capped, metered, with all of
 * its state in its host's sight.
 *
 * 1. The bytes are taken for hostile: what is no core module, or uses what guests cannot have, is refused with its
 *    place (`inspect-binary.ts`, `core-features.ts`, `wasm/parse-module.ts`).
 * 2. No code of the module runs before its host has set limits, the start function included.
 * 3. The same bytes, options and tools give the same bytes and the same manifest.
 */
import { CaissonError } from '../../base/errors.ts'
import type { Asyncify } from '../../ports/asyncify.ts'
import { parseModule } from '../../wasm/binary.ts'
import { capModule } from '../../wasm/cap.ts'
import { lowerConstants } from '../../wasm/lower-constants.ts'
import { meterModuleSteps } from '../../wasm/meter.ts'
import type { MeterProfile } from '../../wasm/meter-options.ts'
import { indexSpaces, type Module } from '../../wasm/module.ts'
import { checkCoreFeatures } from './core-features.ts'
import type { CoreManifest, PreparedCore, SuspendingImport } from './core-manifest.ts'
import {
  checkValid,
  DEFAULT_TABLE_ENTRIES,
  defaultTableEntries,
  exportsOf,
  importsOf,
} from './describe-core.ts'
import { exposeState, MEMORY_EXPORT } from './expose-state.ts'
import { inspectBinary, MOST_BINARY_BYTES } from './inspect-binary.ts'

export interface PrepareCoreOptions {
  /** How charges are emitted: what the engine that runs the module is fastest with. */
  readonly profile: MeterProfile
  /** No memory grows beyond so many pages of 64 KiB. */
  readonly maxMemoryPages: number
  /** No table grows beyond so many entries; default 100,000. */
  readonly maxTableEntries?: number
  /** `shared` for each module of a guest of several (default `own`). */
  readonly counters?: 'own' | 'shared'
  /** Imports at which the guest may be suspended; needs `asyncify`. */
  readonly suspends?: readonly SuspendingImport[]
  readonly asyncify?: Asyncify
  /**
   * The functions that can be suspended, by their place among those that the module defines; where one of its others
   * is at work it must not be. Left out: all that may be.
   */
  readonly unwinds?: readonly number[]
  /** Whether another module of the same guest can catch exceptions (default false). */
  readonly importsMayThrow?: boolean
  /** Larger inputs are refused; default 128 MiB. */
  readonly maxBytes?: number
}

/** Raised when the same module is prepared otherwise. A test compares it with what comes out. */
const RULES = 3

/** All that the result depends on beside the bytes, as plain JSON in a fixed order: what is kept is found by it. */
export function describeCoreOptions(
  options: Omit<PrepareCoreOptions, 'asyncify'> & { readonly asyncify?: Pick<Asyncify, 'version'> },
): readonly unknown[] {
  const { profile, maxMemoryPages, maxTableEntries = DEFAULT_TABLE_ENTRIES, counters = 'own' } = options
  const { suspends = [], asyncify, importsMayThrow = false, maxBytes = MOST_BINARY_BYTES } = options
  const at = suspends.map(({ module, name }) => [module, name])
  const tool = at.length === 0 ? null : (asyncify?.version ?? null)
  const { unwinds } = options
  return [
    RULES,
    profile,
    maxMemoryPages,
    maxTableEntries,
    counters,
    at,
    tool,
    importsMayThrow,
    maxBytes,
    ...(unwinds === undefined ? [] : [unwinds]),
  ]
}

/**
 * Prepares a core module at once: for small ones, and in threads that may be blocked.
 *
 * @throws CaissonError `invalid_module`, `unsupported_feature`, `invalid_limit` (it needs more from the start than the
 *   caps allow), `invalid_argument`
 */
export function prepareCore(bytes: Uint8Array, options: PrepareCoreOptions): PreparedCore {
  const steps = prepareCoreSteps(bytes, options)
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

/** As `prepareCore`, in pieces of one function; yields how much is done, from 0 to 1. */
export function* prepareCoreSteps(
  bytes: Uint8Array,
  options: PrepareCoreOptions,
): Generator<number, PreparedCore, void> {
  inspectBinary(bytes, 'module', options.maxBytes ?? MOST_BINARY_BYTES)
  const suspends = options.suspends ?? []
  const original = parseModule(bytes)
  const { maxMemoryPages, maxTableEntries = defaultTableEntries(original) } = options
  const caps = { maxMemoryPages, maxTableEntries }
  // What can be refused early is: rewriting takes long.
  capModule(original, caps)
  const suspendable = suspends.length === 0 ? original : makeSuspendable(bytes, original, options)
  const lowered = lowerConstants(suspendable)
  const exposed = exposeState(lowered.module)
  const { wasm, report } = yield* meterModuleSteps(exposed.module, bytes.length, {
    profile: options.profile,
    ...caps,
    counters: options.counters ?? 'own',
    importsMayThrow: options.importsMayThrow ?? false,
    reportsGrowth: true,
  })
  checkCoreFeatures(report.features)
  // The metering pass does not check types, and what it adds could make an invalid module valid.
  const plain = suspends.length === 0 ? lowered : lowerConstants(original)
  checkValid(bytes, plain)
  const hidden = report.hiddenState.map((state) =>
    state === 'tables' ? 'writes to its tables' : 'drops segments',
  )
  const manifest: CoreManifest = {
    version: 1,
    profile: options.profile,
    counters: options.counters ?? 'own',
    features: report.features,
    imports: importsOf(original),
    exports: exportsOf(original),
    memory: exposed.hasMemory ? memoryOf(suspendable, maxMemoryPages) : null,
    ownsMemory: exposed.ownsMemory,
    tableEntries: tableEntriesOf(capModule(suspendable, caps)),
    globals: exposed.globals,
    captureObstacles: [...exposed.obstacles, ...hidden],
    constants: lowered.constants,
    suspends,
    hasStart: report.exportsStart,
    functions: report.functions,
    maxFuelBetweenChecks: report.maxFuelBetweenChecks,
    bytesIn: bytes.length,
    bytesOut: wasm.length,
  }
  return { wasm, manifest }
}

function makeSuspendable(bytes: Uint8Array, original: Module, options: PrepareCoreOptions): Module {
  const { asyncify, suspends = [] } = options
  if (asyncify === undefined) {
    throw new CaissonError('unsupported', 'Suspending a module needs the package binaryen: install it.')
  }
  for (const wanted of suspends) {
    // Binaryen reads a list: a name must not be able to say more than one import.
    if (/[,*\s]|^@/.test(`${wanted.module}.${wanted.name}`)) {
      throw new CaissonError(
        'unsupported',
        `Nothing can be suspended at an import with such a name: ${JSON.stringify(`${wanted.module}.${wanted.name}`.slice(0, 120))}.`,
      )
    }
    const isThere = original.imports.some(
      ({ module, name, desc }) =>
        desc.kind === 'function' && module === wanted.module && name === wanted.name,
    )
    if (!isThere) {
      throw new CaissonError(
        'invalid_argument',
        `The module imports no function ${JSON.stringify(`${wanted.module}.${wanted.name}`.slice(0, 120))} to be suspended at.`,
      )
    }
  }
  if (original.exports.some(({ name }) => name.startsWith('asyncify_'))) {
    throw new CaissonError(
      'invalid_module',
      'The module exports asyncify_ functions: it was made suspendable already. Build it without asyncify.',
    )
  }
  if (indexSpaces(original).memories.length === 0) {
    throw new CaissonError('invalid_module', 'A module without a memory cannot be suspended.')
  }
  return parseModule(
    asyncify.rewrite(
      bytes,
      suspends.map(({ module, name }) => `${module}.${name}`),
      options.unwinds,
    ),
  )
}

function tableEntriesOf({ tables }: Module): number {
  return tables.reduce((sum, { type }) => sum + (type.limits.max ?? 0), 0)
}

function memoryOf(module: Module, cap: number): CoreManifest['memory'] {
  const limits = indexSpaces(module).memories[0]
  if (limits === undefined) return null
  return { name: MEMORY_EXPORT, minPages: limits.min, maxPages: Math.min(limits.max ?? cap, cap) }
}
