/** Caisson's side of chains: plans of calls, proposed and approved before the clock starts, then started and awaited. */
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type Capability,
  capability,
  type DefinedPlan,
  definePlan,
  openRuntime,
  type Plan,
  type PlanNode,
  type PlanRun,
  type RunStore,
  type Runtime,
} from '../../src/entry/node.ts'
import { type Chain, step, stepNames } from './chain.ts'

/** Where runs are kept. */
export interface Kept {
  readonly store: RunStore
  readonly remove: () => Promise<void>
}

export const BY = { by: 'bench' }

const FORMAT = { format: 'plan/1', name: 'chain', version: '1', grants: ['bench.step'] } as const

/** What all steps of chains are: a call through the gate. */
export const stepCapability: Capability = capability({
  name: 'bench.step',
  description: 'One step of a chain',
  effect: 'read',
  invoke: (input) => step((input as { readonly n: number }).n),
})

/** A plan of so many calls, one after the other. */
export function chainPlan(length: number): Plan {
  const names = stepNames(length)
  const nodes = names.map((name, i): [string, PlanNode] => [
    name,
    { kind: 'call', capability: 'bench.step', input: { n: { $from: names[i - 1] ?? 'input' } } },
  ])
  return { ...FORMAT, nodes: Object.fromEntries(nodes), output: { $from: names.at(-1) ?? '' } }
}

/** So many chains, one after the other: a plan may have 1,000 nodes side by side. */
export function chainOfChains(chains: number, length: number): Plan {
  const names = stepNames(chains)
  const nodes = names.map((name, i): [string, PlanNode] => [
    name,
    { kind: 'plan', plan: chainPlan(length), input: { $from: names[i - 1] ?? 'input' } },
  ])
  return { ...FORMAT, nodes: Object.fromEntries(nodes), output: { $from: names.at(-1) ?? '' } }
}

/** A run that was approved, and has not started. */
export async function approvedRun(
  runtime: Runtime,
  plan: DefinedPlan,
  input: unknown,
  name?: string,
): Promise<PlanRun> {
  const run = await runtime.propose(plan, { ...BY, input, ...(name !== undefined && { run: name }) })
  await run.approve({ ...BY, digest: (await run.view()).request })
  return run
}

/** Starts a run. @throws Error when it does not complete */
export async function outputOf(run: PlanRun): Promise<unknown> {
  await run.start(BY)
  const outcome = await run.outcome()
  if (outcome.status !== 'completed') throw new Error(JSON.stringify(outcome))
  return outcome.output
}

/** A plan that takes a number and gives another one, run again and again. */
export async function planChain({ store, remove }: Kept, document: Plan): Promise<Chain> {
  const runtime = await openRuntime({ capabilities: [stepCapability], store })
  const plan = definePlan(document)
  let run: PlanRun | undefined
  return {
    prepare: async () => {
      run = await approvedRun(runtime, plan, 0)
    },
    run: async () => (run === undefined ? undefined : outputOf(run)),
    forget: async () => {
      if (run !== undefined) await removeRun(store, run.run)
    },
    dispose: async () => {
      await runtime.close()
      await remove()
    },
  }
}

/** Takes a run out of its store. */
async function removeRun(store: RunStore, run: string): Promise<void> {
  const lease = await store.lease(run, 10_000)
  await store.remove(run, lease)
}

/** A folder that is gone with what is made in it. */
export function createFolder(): { readonly path: string; readonly remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), 'caisson-bench-'))
  return { path, remove: () => rmSync(path, { recursive: true }) }
}

/** Bytes of all files in a folder. */
export function bytesInFolder(path: string): number {
  return readdirSync(path, { recursive: true, encoding: 'utf8' })
    .map((name) => statSync(join(path, name)))
    .filter((file) => file.isFile())
    .reduce((sum, { size }) => sum + size, 0)
}
