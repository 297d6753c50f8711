/**
 * Verifying a run from its record against executing it: four programs, one after the other, each of which computes for
 * some milliseconds between ten calls. The calls are answered at once, so that executing waits for nothing that
 * verifying would not wait for.
 */
import { definePlan, openRuntime, type Plan, type PlanNode } from '../../src/entry/node.ts'
import type { Trial } from '../harness/trial.ts'
import { approvedRun, type Kept, outputOf, stepCapability } from './caisson-chains.ts'
import { cpuNs } from './caisson-trials.ts'
import { stepNames } from './chain.ts'

const PROGRAMS = 4
const CALLS = 10
/** Rounds of a loop between two calls. */
const ROUNDS = 20_000

const SOURCE = `let { n } = input
let noise = 1
for (let i = 0; i < ${CALLS}; i += 1) {
  for (let k = 0; k < ${ROUNDS}; k += 1) noise = (noise * 16807) % 2147483647
  n = await bench.step({ n })
}
return { n, noise }`

function programsPlan(): Plan {
  const names = stepNames(PROGRAMS)
  const nodes = names.map((name, i): [string, PlanNode] => {
    const before = names[i - 1]
    const n = { $from: before === undefined ? 'input' : `${before}/n` }
    const limits = { fuel: 2 ** 40, wallMs: 600_000 }
    return [name, { kind: 'program', source: SOURCE, input: { n }, grants: ['bench.step'], limits }]
  })
  return {
    format: 'plan/1',
    name: 'programs',
    version: '1',
    grants: ['bench.step'],
    nodes: Object.fromEntries(nodes),
    output: { $from: `${names.at(-1)}/n` },
  }
}

/** How many times the cost of executing that of verifying is. */
export async function verifyTrial({ store, remove }: Kept): Promise<Trial> {
  const runtime = await openRuntime({ capabilities: [stepCapability], store })
  const plan = definePlan(programsPlan())
  return {
    operations: 1,
    run: async () => {
      const run = await approvedRun(runtime, plan, 0)
      const begin = cpuNs()
      if ((await outputOf(run)) !== PROGRAMS * CALLS) throw new Error('the programs gave something else')
      const executed = cpuNs()
      const found = await runtime.verify(run.run)
      const verified = cpuNs()
      if (!found.ok || found.executed !== PROGRAMS || found.unchecked.length > 0)
        throw new Error(`it was not verified: ${JSON.stringify(found)}`)
      return (verified - executed) / (executed - begin)
    },
    dispose: async () => {
      await runtime.close()
      await remove()
    },
  }
}
