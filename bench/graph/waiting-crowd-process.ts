/** A process in which many runs wait for a person. Forked by `waiting-crowd.ts`: it says how much it grew by them. */
import { definePlan, openRuntime, type Plan } from '../../src/entry/node.ts'
import { approvedRun, BY } from './caisson-chains.ts'
import { keepInMemory } from './caisson-stores.ts'
import type { WaitingMessage } from './waiting-crowd.ts'

const RUNS = 10_000
/** Runs that come first, so that what the runtime needs is there before memory is looked at. */
const FIRST_RUNS = 300

const PLAN: Plan = {
  format: 'plan/1',
  name: 'question',
  version: '1',
  nodes: { ask: { kind: 'approval', question: 'Shall it go on?', show: { $from: 'input' } } },
  output: { $from: 'ask' },
}

function residentBytes(): number {
  for (let i = 0; i < 3; i += 1) globalThis.gc?.()
  return process.memoryUsage.rss()
}

const runtime = await openRuntime({ store: keepInMemory().store })
const plan = definePlan(PLAN)

async function ask(number: number): Promise<void> {
  const run = await approvedRun(runtime, plan, { number, text: `report ${number}` })
  await run.start(BY)
  const outcome = await run.outcome()
  if (outcome.status !== 'waiting' || outcome.requests !== 1) throw new Error(JSON.stringify(outcome))
}

for (let i = 0; i < FIRST_RUNS; i += 1) await ask(i)
const before = residentBytes()
for (let i = 0; i < RUNS; i += 1) await ask(FIRST_RUNS + i)
const message: WaitingMessage = { grownBytes: residentBytes() - before }
process.send?.(message, () => process.exit(0))
