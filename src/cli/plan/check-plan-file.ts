/** What `caisson plan check` does. */
import type { Capability } from '../../capability/capability.ts'
import { nearNames } from '../../capability/near-names.ts'
import type { Plan } from '../../graph/plan/plan.ts'
import { codeOf, visitNodes } from '../../graph/plan/plan-code.ts'
import type { CliIo } from '../cli-io.ts'
import type { GivenFlags } from '../command.ts'
import { EXIT } from '../exit-code.ts'
import { jsonText } from '../render/json-text.ts'
import { grantRights } from '../run/grant-rights.ts'
import { type CodeProblem, CodeReader } from './code-reader.ts'
import { withOwnTools } from './own-tools.ts'
import { type PlacedProblem, type PlanFile, readPlanFile } from './plan-file.ts'
import { planSummary } from './plan-tree.ts'
import { tellRefused } from './refused-plan.ts'
import { wasmFileProblems } from './wasm-file-problems.ts'

/** @returns the exit code. @throws CliError */
export async function checkPlanFile(given: GivenFlags, io: CliIo): Promise<number> {
  const [name = '-'] = given.positionals
  const reader = new CodeReader()
  try {
    const file = await readPlanFile(name, reader, io)
    const { defined } = file
    if (defined === undefined) return tellRefused(file, given.has('json'), io)
    const { plan, digest } = defined
    const problems = await findPlanProblems(plan, file, reader, given, io)
    if (problems.length > 0) {
      return tellRefused({ problems: problems.slice(0, 100), count: problems.length }, given.has('json'), io)
    }
    const nodes = countNodes(plan)
    const { version, grants = [], budget = {} } = plan
    if (given.has('json')) {
      const document = {
        status: 'valid',
        name: plan.name,
        version,
        digest,
        nodes,
        grants,
        budget,
        problems: [],
      }
      io.stdout.write(`${jsonText(document)}\n`)
    } else io.stdout.write(planSummary(plan, digest, nodes, io.stdout))
    return EXIT.done
  } finally {
    await reader.close()
  }
}

/** What is wrong with a plan whose form is right: its tools, its programs and expressions, its WebAssembly. @throws CliError */
export async function findPlanProblems(
  plan: Plan,
  file: PlanFile,
  reader: CodeReader,
  given: GivenFlags,
  io: CliIo,
): Promise<readonly PlacedProblem[]> {
  const there = await givenTools(given, io)
  return [
    ...toolProblems(plan, file, there),
    ...(await codeProblems(plan, file, reader)),
    ...(await wasmFileProblems(plan, file, there)),
  ]
}

/** By their kinds, those inside of others included. */
function countNodes(plan: Plan): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {}
  visitNodes(plan, '', ({ kind }) => {
    counts[kind] = (counts[kind] ?? 0) + 1
  })
  return counts
}

/** What there is to call; undefined where no flag says so. */
async function givenTools(given: GivenFlags, io: CliIo): Promise<readonly Capability[] | undefined> {
  if (!['tools', 'allow-net', 'allow-read', 'allow-write'].some((flag) => given.has(flag))) return undefined
  const rights = await grantRights(given, [], io.cwd)
  await rights.close()
  return withOwnTools(rights.capabilities)
}

/** Capabilities that there are not, if it was said which there are. */
function toolProblems(
  plan: Plan,
  file: PlanFile,
  given: readonly Capability[] | undefined,
): readonly PlacedProblem[] {
  if (given === undefined) return []
  const there = given.map(({ name }) => name)
  return (plan.grants ?? []).flatMap((grant, i) => {
    const name = typeof grant === 'string' ? grant : grant.capability
    if (there.includes(name)) return []
    const [near] = nearNames(name, there)
    const meant = near === undefined ? '' : ` (did you mean "${near}"?)`
    return [
      file.placed({
        at: `/grants/${i}`,
        problem: `there is no capability "${name}" in what the flags give${meant}`,
      }),
    ]
  })
}

/** What of the plan's own text does not parse; what stands in files was looked at when it was read. */
async function codeProblems(
  plan: Plan,
  file: PlanFile,
  reader: CodeReader,
): Promise<readonly PlacedProblem[]> {
  const { programs, expressions } = codeOf(plan)
  const problems: PlacedProblem[] = []
  const add = (at: string, found: readonly CodeProblem[]): void => {
    for (const { problem, file: module, place } of found) {
      const placed = file.placed({
        at,
        problem: module === undefined ? problem : `${problem} (in ${module})`,
      })
      const exact = place !== undefined && module === undefined ? file.text.placeIn(at, place) : undefined
      problems.push(exact === undefined ? placed : { ...placed, place: exact })
    }
  }
  for (const { at, program } of programs) {
    if (!file.fromFiles.has(at)) add(`${at}/source`, await reader.check(program))
  }
  for (const { at, source, names } of expressions) add(at, await reader.checkExpression(source, names))
  return problems
}
