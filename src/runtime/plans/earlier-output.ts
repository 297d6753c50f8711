/**
 * What a node gave in an earlier run of its plan, for a fallback that says that this will do.
 *
 * It is looked up in the journals of those runs, which are checked as they are read: nothing else has to be kept, and
 * nothing can be put there that no run gave.
 *
 * Invariants
 * 1. It is of the same trust domain, of a completed run of a plan of the same name, of the node at the same path that
 *    does the same, over an equal input; and the node gave it itself, not a fallback of it.
 * 2. What is looked at is bounded: the heads of so many runs, the journals of the newest of them.
 * 3. A run that cannot be read is passed over: whatever is wrong with it, is not found.
 */
import type { Digest } from '../../base/digest.ts'
import { CaissonError } from '../../base/errors.ts'
import { isRegistered, kindOf } from '../../graph/plan/node-kinds.ts'
import type { Plan, PlanNode } from '../../graph/plan/plan.ts'
import type { EarlierOutput } from '../../graph/run/node-work.ts'
import type { RecordedEvent, ValueRef } from '../../graph/run/run-event.ts'
import { innerScope } from '../../graph/run/scope-plan.ts'
import { digestValue } from '../../values/digest-value.ts'
import { decodePlanSummary, type PlanSummary } from '../plan-summary.ts'
import type { RunOwner } from '../run-owner.ts'
import type { PlanRunParts } from './plan-run-parts.ts'
import { readHistory } from './read-standing.ts'
import { openValues } from './run-key.ts'

/** Heads that are looked at. */
const MOST_HEADS = 2_000
/** Journals that are read. */
const MOST_READ = 20

export interface WantedOutput {
  readonly plan: Plan
  /** Of the node. */
  readonly path: string
  /** Digest of what the node was given. */
  readonly input: Digest
  readonly mostAgeMs: number
}

/** @throws CaissonError what the store throws */
export async function earlierOutput(
  parts: Pick<PlanRunParts, 'store' | 'sealing' | 'plans' | 'hostClock'>,
  owner: RunOwner,
  wanted: WantedOutput,
): Promise<EarlierOutput | undefined> {
  const { path, mostAgeMs, plan } = wanted
  const nowMs = parts.hostClock.now()
  const what = actionAt(plan, path)
  for (const run of await completedRuns(parts, owner, plan.name, nowMs - mostAgeMs)) {
    const found = await outputOf(parts, { ...owner, run }, wanted, what)
    if (found === undefined) continue
    const ageMs = Math.max(0, nowMs - found.timeMs)
    if (ageMs <= mostAgeMs) return { value: found.value, ageMs }
  }
  return undefined
}

/** The newest first. What a head says is believed only as far as to look. */
async function completedRuns(
  { store }: Pick<PlanRunParts, 'store'>,
  owner: RunOwner,
  name: string,
  sinceMs: number,
): Promise<readonly string[]> {
  const found: { readonly run: string; readonly atMs: number }[] = []
  const runs = (await store.runs?.()) ?? []
  for (const run of runs.filter((one) => one !== owner.run).slice(-MOST_HEADS)) {
    const summary = await summaryOf(store, run)
    if (summary?.status !== 'completed' || summary.plan.name !== name || !(summary.atMs >= sinceMs)) continue
    found.push({ run, atMs: summary.atMs })
  }
  return found
    .sort((a, b) => b.atMs - a.atMs)
    .slice(0, MOST_READ)
    .map(({ run }) => run)
}

async function summaryOf(store: PlanRunParts['store'], run: string): Promise<PlanSummary | undefined> {
  try {
    const head = await store.head(run)
    return head && decodePlanSummary(head.summary)
  } catch (error) {
    if (CaissonError.is(error) && error.code !== 'store_failed') return undefined
    throw error
  }
}

async function outputOf(
  parts: Pick<PlanRunParts, 'store' | 'sealing' | 'plans'>,
  owner: RunOwner,
  { path, input, plan: { name } }: WantedOutput,
  what: string | undefined,
): Promise<{ readonly value: unknown; readonly timeMs: number } | undefined> {
  try {
    const { events, plan, state } = await readHistory(parts, owner)
    if (state.status !== 'completed' || plan.plan.name !== name) return undefined
    if (what === undefined || actionAt(plan.plan, path) !== what) return undefined
    const values = await openValues(parts, owner, state)
    const given = inputOf(events, path)
    const output = events.findLast((event) => event.type === 'node_completed' && event.node === path)
    if (given === undefined || output?.type !== 'node_completed') return undefined
    if (digestValue(await values.load(given)) !== input) return undefined
    return { value: await values.load(output.output), timeMs: output.timeMs }
  } catch (error) {
    if (CaissonError.is(error) && error.code !== 'store_failed') return undefined
    throw error
  }
}

function inputOf(events: readonly RecordedEvent[], path: string): ValueRef | undefined {
  const started = events.findLast((event) => event.type === 'node_started' && event.node === path)
  return started?.type === 'node_started' ? started.input : undefined
}

/** What the node at a path does, but for what it is given: a digest. */
function actionAt(plan: Plan, path: string): string | undefined {
  let scope: { readonly nodes: Readonly<Record<string, PlanNode>> } | undefined = plan
  let node: PlanNode | undefined
  for (const part of path.split('/')) {
    // Numbers of items and rounds stand between the ids, which begin with letters.
    if (/^[0-9]/.test(part)) continue
    node = scope !== undefined && Object.hasOwn(scope.nodes, part) ? scope.nodes[part] : undefined
    if (node === undefined) return undefined
    scope = innerScope(node)
  }
  if (node?.kind === 'call') return digestValue({ kind: node.kind, capability: node.capability })
  if (node !== undefined && isRegistered(node)) return digestValue(kindOf(node).identityOf(node))
  if (node?.kind !== 'program') return undefined
  const { kind, source = null, language = null, modules = null, grants = [] } = node
  return digestValue({ kind, source, language, modules, grants })
}
