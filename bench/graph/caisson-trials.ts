/** What the graph suite asks, done by Caisson: plans through its public API. */
import { capability, definePlan, openRuntime, type Plan, type PlanNode } from '../../src/entry/node.ts'
import type { Trial } from '../harness/trial.ts'
import { approvedRun, chainOfChains, type Kept, outputOf, planChain } from './caisson-chains.ts'
import type { KeptInFiles } from './caisson-stores.ts'
import { type Chain, constantState, LONGEST, SHORT, STATE_STEPS, step, stepNames } from './chain.ts'
import { logSyncs } from './postgres.ts'
import { serverSyncsTrial } from './syncs.ts'

/** Most nodes of one scope. */
const SCOPE = 1_000

/** CPU nanoseconds of this process so far. */
export function cpuNs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) * 1e3
}

async function cpuOfRuns({ prepare, run, forget }: Chain, runs: number): Promise<number> {
  let sum = 0
  for (let i = 0; i < runs; i += 1) {
    await prepare?.()
    const before = cpuNs()
    await run()
    sum += cpuNs() - before
    await forget?.()
  }
  return sum
}

/** How many times the time per step of a short chain that of the longest one is; as many steps of each. */
export async function growthTrial(keep: () => Kept): Promise<Trial> {
  const short = await planChain(keep(), chainOfChains(1, SHORT))
  const longest = await planChain(keep(), chainOfChains(LONGEST / SCOPE, SCOPE))
  return {
    operations: 1,
    run: async () => (await cpuOfRuns(longest, 1)) / (await cpuOfRuns(short, LONGEST / SHORT)),
    dispose: async () => {
      await short.dispose?.()
      await longest.dispose?.()
    },
  }
}

/** Steps that are given a number and a state, and give a number. */
function statePlan(): Plan {
  const names = stepNames(STATE_STEPS)
  const nodes = names.map((name, i): [string, PlanNode] => [
    name,
    {
      kind: 'call',
      capability: 'bench.step',
      input: { n: { $from: names[i - 1] ?? 'input/n' }, state: { $from: 'input/state' } },
    },
  ])
  return {
    format: 'plan/1',
    name: 'state',
    version: '1',
    grants: ['bench.step'],
    nodes: Object.fromEntries(nodes),
    output: { $from: names.at(-1) ?? '' },
  }
}

export async function bytesTrial(keep: () => Promise<KeptInFiles>): Promise<Trial> {
  const { store, closedBytes } = await keep()
  const state = constantState()
  const stepWithState = capability({
    name: 'bench.step',
    description: 'One step of a chain with a state',
    effect: 'read',
    invoke: (input) => {
      const given = input as { readonly n: number; readonly state: string }
      if (given.state !== state) throw new Error('the state is another one')
      return step(given.n)
    },
  })
  const runtime = await openRuntime({ capabilities: [stepWithState], store })
  const output = await outputOf(await approvedRun(runtime, definePlan(statePlan()), { n: 0, state }))
  if (output !== STATE_STEPS) throw new Error(`the chain gave ${String(output)}`)
  await runtime.close()
  const bytes = await closedBytes()
  return { operations: 1, run: () => bytes }
}

/** Syncs of a server, per step of a chain. */
export function postgresSyncsTrial(chain: () => Promise<Chain>): Promise<Trial> {
  return serverSyncsTrial(async (runs) => {
    const { prepare, run, forget, dispose } = await chain()
    const before = await logSyncs()
    for (let i = 0; i < runs; i += 1) {
      await prepare?.()
      await run()
      await forget?.()
    }
    await dispose?.()
    return (await logSyncs()) - before
  })
}
