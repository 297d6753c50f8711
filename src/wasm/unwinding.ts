/**
 * Which functions may end by an exception while the instance lives on.
 *
 * A trap ends the instance, so that what was pending does not matter. An exception is different: what catches it
 * goes on. Where no code of the module throws or catches, nothing unwinds (a host exception would destroy the
 * instance), unless the host says that its imports may throw through the module.
 */
import type { ModuleScan } from './scan-module.ts'

/** Tells whether a call may unwind. */
export interface Unwinding {
  /** Of the function with this index, imports included. */
  byName(functionIndex: number): boolean
  /** Of any function called through a table or a reference. */
  readonly byReference: boolean
}

/** Finds the functions that may unwind: those that throw or call the unknown, and their callers. */
export function findUnwinding(
  scan: ModuleScan,
  importedFunctions: number,
  importsMayThrow: boolean,
): Unwinding {
  const { functions } = scan
  const possible = importsMayThrow || functions.some((summary) => summary.throws || summary.catches)
  if (!possible) return { byName: () => false, byReference: false }
  const unwinds = new Uint8Array(functions.length)
  const callers: number[][] = functions.map(() => [])
  const spreading: number[] = []
  for (const [index, summary] of functions.entries()) {
    let unknown = summary.throws || summary.indirectTypes.length > 0
    for (const callee of summary.callees) {
      if (callee < importedFunctions) unknown = true
      else callers[callee - importedFunctions]?.push(index)
    }
    if (!unknown) continue
    unwinds[index] = 1
    spreading.push(index)
  }
  for (let index = spreading.pop(); index !== undefined; index = spreading.pop()) {
    for (const caller of callers[index] as number[]) {
      if (unwinds[caller] === 1) continue
      unwinds[caller] = 1
      spreading.push(caller)
    }
  }
  return {
    byName: (index) => index < importedFunctions || unwinds[index - importedFunctions] === 1,
    byReference: true,
  }
}
