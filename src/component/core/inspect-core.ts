/**
 * What a core module is, found without preparing it: in a small part of the time, and with nothing that could be run.
 *
 * Invariants
 * 1. What is refused here is refused when it is prepared, in the same words. Not the other way round: of code that is large,
 *    what it uses is not looked for.
 * 2. What is kept of it holds none of its bytes.
 */
import { CaissonError } from '../../base/errors.ts'
import { capModule } from '../../wasm/cap.ts'
import { codeContext } from '../../wasm/code-context.ts'
import { lowerConstants } from '../../wasm/lower-constants.ts'
import type { Module } from '../../wasm/module.ts'
import { moduleFeatures } from '../../wasm/module-features.ts'
import { parseModule } from '../../wasm/parse-module.ts'
import { scanSteps } from '../../wasm/scan-module.ts'
import { checkCoreFeatures } from './core-features.ts'
import type { CoreExport, CoreImport } from './core-manifest.ts'
import { checkValid, defaultTableEntries, exportsOf, importsOf } from './describe-core.ts'
import { inspectBinary } from './inspect-binary.ts'

export interface InspectedCore {
  readonly imports: readonly CoreImport[]
  readonly exports: readonly CoreExport[]
  /** What it is refused for, whoever runs it. */
  readonly refusals: readonly CaissonError[]
  /** @throws CaissonError `invalid_limit` where it needs more memory from its start */
  checkMemory(maxMemoryPages: number): void
}

/** Bytes of code that are looked through: a second, where interpreters would take many. */
const MOST_SCANNED = 2 * 1024 * 1024

/**
 * @param bytes which nobody changes meanwhile
 * @param pause called between its pieces: gives the host's loop a turn where it is time for one
 * @throws CaissonError `invalid_module`, `unsupported_feature` for what cannot be read
 */
export async function inspectCore(bytes: Uint8Array, pause: () => Promise<void>): Promise<InspectedCore> {
  inspectBinary(bytes, 'module')
  const module = parseModule(bytes)
  await pause()
  const refusals: CaissonError[] = []
  const attempt = async (check: () => void | Promise<void>): Promise<void> => {
    try {
      await check()
    } catch (error) {
      if (!CaissonError.is(error)) throw error
      refusals.push(error)
    }
    await pause()
  }
  await attempt(() => void capModule(module, { maxTableEntries: defaultTableEntries(module) }))
  await attempt(() => checkCoreFeatures([...moduleFeatures(module)]))
  if (refusals.length === 0) await attempt(() => checkCode(module, pause))
  // An engine says no more than that it takes it not.
  if (refusals.length === 0) await attempt(() => checkValid(bytes, lowerConstants(module)))
  const frame = frameOf(module)
  return {
    imports: importsOf(module),
    exports: exportsOf(module),
    refusals,
    checkMemory: (maxMemoryPages) => void capModule(frame, { maxMemoryPages }),
  }
}

async function checkCode(module: Module, pause: () => Promise<void>): Promise<void> {
  if (module.bodies.reduce((sum, { bytes }) => sum + bytes.length, 0) > MOST_SCANNED) return
  const steps = scanSteps(module, codeContext(module))
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done === true) return checkCoreFeatures([...step.value.features])
    await pause()
  }
}

/** With what its memories need, and none of its bytes. */
function frameOf({ types, imports, memories, dataCount }: Module): Module {
  const none = { functions: [], bodies: [], tables: [], tags: [], globals: [], exports: [], elements: [] }
  return { types, imports, memories, dataCount, ...none, data: [], customs: [] }
}
