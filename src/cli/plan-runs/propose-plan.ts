/** What `caisson plan propose` does, and `caisson plan start FILE --approve` begins with. */
import { escapeText } from '../../base/escape-text.ts'
import type { DefinedPlan } from '../../graph/plan/define-plan.ts'
import type { PlanRun } from '../../runtime/plans/plan-run.ts'
import { CliError } from '../cli-error.ts'
import type { CliIo } from '../cli-io.ts'
import type { GivenFlags } from '../command.ts'
import { EXIT } from '../exit-code.ts'
import { newRunName } from '../kept/run-name.ts'
import { TENANT } from '../kept/run-place.ts'
import { findPlanProblems } from '../plan/check-plan-file.ts'
import { CodeReader } from '../plan/code-reader.ts'
import { readPlanFile } from '../plan/plan-file.ts'
import { tellRefused } from '../plan/refused-plan.ts'
import { jsonText } from '../render/json-text.ts'
import { styleFor } from '../render/style.ts'
import { textWidth } from '../render/text-width.ts'
import { readInput } from '../run/read-input.ts'
import { nextCommands } from './next-commands.ts'
import { nextLines } from './next-lines.ts'
import { givenRunName } from './plan-run-name.ts'
import { inPlanSession, type PlanSession } from './plan-session.ts'
import { proposalJson, proposalText, readProposed } from './proposal-lines.ts'
import { readBy } from './who.ts'

interface Proposal {
  readonly plan: DefinedPlan
  readonly input: unknown
  readonly wasm: readonly Uint8Array[]
  readonly run: string
}

/** @returns the exit code. @throws CliError */
export async function proposePlan(given: GivenFlags, io: CliIo): Promise<number> {
  return withProposal(given, io, 'plan propose', async (run, session) => {
    if (given.has('approve')) await approveAtOnce(run, given)
    await tellProposal(run, session)
    return EXIT.done
  })
}

/** Says yes to what it proposed itself: for people who trust what they wrote. */
export async function approveAtOnce(run: PlanRun, given: GivenFlags): Promise<void> {
  const { request } = await run.view()
  await run.approve({ by: readBy(given), digest: request })
}

/**
 * Reads and checks the plan, and proposes it.
 * @returns the exit code: that of `work`, or of a plan that is refused
 * @throws CliError
 */
export async function withProposal(
  given: GivenFlags,
  io: CliIo,
  command: string,
  work: (run: PlanRun, session: PlanSession) => Promise<number>,
): Promise<number> {
  const proposal = await readProposal(given, io)
  if (typeof proposal === 'number') return proposal
  const { plan, input, wasm, run: name } = proposal
  return inPlanSession(given, io, { command, run: name, tools: true, makes: true }, async (session) => {
    const erasable = given.has('erasable') ? { erasable: true } : {}
    const named = { run: name, input: input ?? null, wasm, domain: TENANT, ...erasable }
    return work(await session.runtime.propose(plan, { by: readBy(given), ...named }), session)
  })
}

async function readProposal(given: GivenFlags, io: CliIo): Promise<Proposal | number> {
  const [file = '-'] = given.positionals
  if (file === '-' && given.value('input') === '@-') {
    throw usage('The plan and its input cannot both come from standard input.')
  }
  const name = givenRunName(given)
  const reader = new CodeReader()
  try {
    const read = await readPlanFile(file, reader, io)
    const { defined } = read
    if (defined === undefined) return tellRefused(read, given.has('json'), io)
    const problems = await findPlanProblems(defined.plan, read, reader, given, io)
    if (problems.length > 0) {
      const told = { problems: problems.slice(0, 100), count: problems.length }
      return tellRefused(told, given.has('json'), io)
    }
    const input = await readInput(given.value('input'), io)
    return { plan: defined, input, wasm: [...read.wasm.values()], run: name ?? newRunName(defined.plan.name) }
  } finally {
    await reader.close()
  }
}

/** Everything that is to be approved, and how. */
async function tellProposal(run: PlanRun, { given, io, storeName }: PlanSession): Promise<void> {
  const { stdout } = io
  const view = await run.view()
  const proposal = await readProposed(run)
  const next = nextCommands({ view, plan: run.plan, requests: [], doubts: [] }, storeName, given)
  if (given.has('json')) {
    const { status, plan, request, proposedBy, approvedBy = null, budget = null } = view
    const document = {
      status,
      run: run.run,
      store: storeName,
      digest: request,
      plan,
      budget,
      ...proposalJson(proposal),
      proposedBy,
      approvedBy,
      next: next.map(({ command }) => command),
    }
    stdout.write(`${jsonText(document)}\n`)
    return
  }
  const style = styleFor(stdout)
  const lines = [
    '',
    style.bold(`${view.status}: run ${run.run} in ${escapeText(storeName)}`),
    `    ${style.dim('digest'.padEnd(11))}${view.request}`,
    ...nextLines(next, textWidth(stdout)),
  ]
  stdout.write(proposalText(proposal, stdout) + lines.map((line) => `${line}\n`).join(''))
}

function usage(message: string): CliError {
  return new CliError({ exit: EXIT.usage, code: 'usage', message, hint: 'caisson plan propose --help' })
}
