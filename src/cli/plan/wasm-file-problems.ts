/** What is wrong with the WebAssembly that a plan names by file, each with its place in the plan. */
import { wasiSource } from '../../../host-bindings/wasi/wasi-source.ts'
import type { Capability } from '../../capability/capability.ts'
import type { Plan } from '../../graph/plan/plan.ts'
import type { PlanProblem } from '../../graph/plan/plan-problem.ts'
import { wasmProblems } from '../../runtime/plans/wasm-check.ts'
import type { PlacedProblem, PlanFile } from './plan-file.ts'

/** @param there capabilities, where it was said which there are */
export async function wasmFileProblems(
  plan: Plan,
  file: PlanFile,
  there: readonly Capability[] | undefined,
): Promise<readonly PlacedProblem[]> {
  const problems = await wasmProblems(plan, {
    bytesOf: async (digest) => file.wasm.get(digest),
    wasi: wasiSource,
    isSync: (name) => {
      const known = there?.find((one) => one.name === name)
      return known && known.sync === true
    },
    monotonic: () => performance.now(),
  })
  return problems.map((problem) => file.placed(asWritten(problem, file)))
}

/** The plan has a digest in the place of the file. */
function asWritten(problem: PlanProblem, { fromFiles }: PlanFile): PlanProblem {
  const node = /^(.*)\/wasm$/.exec(problem.at)?.[1]
  return node !== undefined && fromFiles.has(node) ? { ...problem, at: `${node}/file` } : problem
}
