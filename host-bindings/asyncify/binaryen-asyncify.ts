/**
 * Asyncify by the package binaryen, which is loaded when it is first asked for: 14 MB that most hosts never need.
 *
 * Binaryen is one instance for the whole thread: what a hostile module makes of it may fail for the next one. It
 * belongs into a Worker that is thrown away.
 */
import { CaissonError } from '../../src/base/errors.ts'
import type { Asyncify } from '../../src/ports/asyncify.ts'

/** What it may be given: what the metering pass takes, and no more. */
const FEATURES = [
  'MutableGlobals',
  'SignExt',
  'NontrappingFPToInt',
  'BulkMemory',
  'BulkMemoryOpt',
  'SIMD128',
  'ReferenceTypes',
  'CallIndirectOverlong',
  'Multivalue',
  'TailCall',
  'ExtendedConst',
  'ExceptionHandling',
] as const

/** Names what it makes: the major version of the package that is taken. */
export const BINARYEN_VERSION = 'binaryen-132'

/** @throws CaissonError `unsupported` where the package is not installed */
export async function loadBinaryenAsyncify(): Promise<Asyncify> {
  const { default: binaryen } = await import('binaryen').catch((cause: unknown) => {
    throw new CaissonError('unsupported', 'Suspending a module needs the package binaryen: install it.', {
      cause,
    })
  })
  let features = 0
  for (const name of FEATURES) features |= binaryen.Features[name] ?? 0
  return {
    version: BINARYEN_VERSION,
    rewrite(wasm, imports, functions) {
      let module: InstanceType<typeof binaryen.Module> | undefined
      try {
        module = binaryen.readBinary(wasm)
        module.setFeatures(features)
        binaryen.setOptimizeLevel(1)
        binaryen.setShrinkLevel(0)
        binaryen.setPassArgument('asyncify-imports', imports.join(','))
        if (functions !== undefined)
          binaryen.setPassArgument('asyncify-onlylist', namesOf(binaryen, module, functions).join(','))
        module.runPasses(['asyncify'])
        return module.emitBinary()
      } catch (cause) {
        throw new CaissonError('invalid_module', 'Binaryen cannot rewrite the module.', { cause })
      } finally {
        binaryen.clearPassArguments()
        module?.dispose()
      }
    },
  }
}

type Binaryen = typeof import('binaryen').default

/** @throws Error for functions that are not there, or whose names say something to Binaryen */
function namesOf(
  binaryen: Binaryen,
  module: InstanceType<Binaryen['Module']>,
  functions: readonly number[],
): readonly string[] {
  const defined: string[] = []
  for (let index = 0; index < module.getNumFunctions(); index += 1) {
    const info = binaryen.getFunctionInfo(module.getFunctionByIndex(index))
    if (info.module === '') defined.push(info.name)
  }
  return functions.map((place) => {
    const name = defined[place]
    if (name === undefined || !/^[\w$.]+$/.test(name))
      throw new Error(`There is no function ${place} to unwind.`)
    return name
  })
}
