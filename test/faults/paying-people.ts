/** What people do for a run of the paying plan: let it begin, let it go on from wherever it was left, and look at it. */
import { isDeepStrictEqual } from 'node:util'
import {
  CaissonError,
  type DoubtAnswer,
  type PlanOutcome,
  type PlanRun,
  type Runtime,
} from '../../src/entry/node.ts'
import { OUTPUT, PAYMENTS, PLAN } from './paying-plan.ts'

/** More than anything takes: a run that does not end is a problem. */
const MOST_ROUNDS = 20

/** From the proposal to the end, where nothing comes between. */
export async function runPlan(runtime: Runtime): Promise<void> {
  const run = await runtime.propose(PLAN, { by: 'model', run: 'r' })
  await run.approve({ by: 'ann', digest: (await run.view()).request })
  await run.start({ by: 'ann' })
  await run.outcome()
  for (const { digest: request } of await run.requests())
    await run.decide({ request, by: 'ann', decision: 'approve' })
  await run.outcome()
}

/**
 * Goes on with what was left of the run.
 * @param paid what went out so far; what goes out now is added by the capability
 * @returns what is wrong with it
 */
export async function problemsAfterGoingOn(
  runtime: Runtime,
  paid: readonly string[],
): Promise<readonly string[]> {
  const before = paid.length
  try {
    const outcome = await endOf(runtime, paid)
    const problems: string[] = []
    const came = outcome.status === 'completed' ? outcome.output : outcome
    if (!isDeepStrictEqual(came, OUTPUT)) problems.push(`it came to ${JSON.stringify(came)}`)
    const sorted = paid.map(Number).sort((a, b) => a - b)
    if (sorted.join() !== PAYMENTS.join()) problems.push(`it paid ${paid.join()}, ${before} before`)
    return problems
  } catch (error) {
    // Left before the proposal was on the disk: there is none, and nothing was done.
    if (CaissonError.is(error, 'not_found') && paid.length === 0) return []
    return [String((error as Error).stack)]
  }
}

/** People look where it stands, say what they know, and let it go on. */
async function endOf(runtime: Runtime, paid: readonly string[]): Promise<PlanOutcome> {
  const run = await runtime.planRun('r')
  for (let rounds = 0; rounds < MOST_ROUNDS; rounds += 1) {
    const { status, request, point } = await run.view()
    if (status === 'completed' || status === 'failed') break
    if (status === 'proposed') await run.approve({ by: 'ann', digest: request })
    else if (status === 'approved') await run.start({ by: 'ann' })
    else {
      const open = (await run.requests()).filter(({ decided }) => decided === undefined)
      for (const { digest } of open) await run.decide({ request: digest, by: 'ann', decision: 'approve' })
      if (open.length === 0) await run.resume({ by: 'ann', point, answers: await answersFor(run, paid) })
    }
    await run.outcome()
    if (point === (await run.view()).point) throw new Error(`It does not go on: ${status}.`)
  }
  return run.outcome()
}

async function answersFor(run: PlanRun, paid: readonly string[]): Promise<readonly DoubtAnswer[]> {
  const doubts = (await run.doubts()).filter(({ settled }) => !settled)
  return doubts.map(({ node, call, args }) => {
    const common = { node, call, by: 'ann' }
    return paid.includes(String(args))
      ? { ...common, happened: true as const, value: Number(args) + 1 }
      : { ...common, happened: false as const }
  })
}
