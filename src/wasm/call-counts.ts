/** How often functions are called, as far as anybody knows before the module has run. */
import type { CodeContext } from './code-context.ts'
import type { BlockFrequencies } from './meter-options.ts'
import type { ModuleScan } from './scan-module.ts'

/** For each defined function: measured, or guessed from how many others call it. Only ratios matter. */
export function callCounts(
  scan: ModuleScan,
  context: CodeContext,
  frequencies: BlockFrequencies | undefined,
): Float64Array {
  const counts = new Float64Array(scan.functions.length)
  if (frequencies !== undefined) {
    for (let index = 0; index < counts.length; index++) {
      counts[index] = frequencies.get(context.importedFunctions + index)?.[0] ?? 0
    }
    return counts
  }
  for (const { callees } of scan.functions) {
    for (const callee of callees) {
      const index = callee - context.importedFunctions
      if (index >= 0) counts[index] = (counts[index] as number) + 1
    }
  }
  for (const [index, { instructions }] of scan.functions.entries()) {
    counts[index] = (counts[index] as number) / (10 + instructions)
  }
  return counts
}
