/**
 * What `caisson collect` does.
 *
 * Invariants
 * 1. A run is removed by whoever holds its lease, and only if its log says under that lease that it has ended.
 * 2. A dry run changes nothing.
 * 3. Programs of a run of a plan, and lists of its values, stay as long as the run does, and go before it: what stands in the
 *    place of its journal last.
 * 4. What processes that died have left of runs that are not there (proposed, imported, removed half) goes too.
 */
import { nodeCheckpointPorts } from '../../../host-bindings/system/checkpoint-ports.node.ts'
import { CaissonError } from '../../base/errors.ts'
import { escapeText } from '../../base/escape-text.ts'
import { ENDED } from '../../graph/run/transitions.ts'
import type { RunStore } from '../../ports/run-store.ts'
import { type DescribedRun, describeRun } from '../../runtime/describe-run.ts'
import { cutName, ownerOfPart } from '../../runtime/plans/part-names.ts'
import { PlanShelf } from '../../runtime/plans/plan-record.ts'
import { readStanding } from '../../runtime/plans/read-standing.ts'
import { RunHold } from '../../runtime/plans/run-hold.ts'
import { watchedStore } from '../../runtime/watched-store.ts'
import type { CheckpointKeys } from '../../snapshot/container/checkpoint-keys.ts'
import type { CliIo } from '../cli-io.ts'
import type { GivenFlags } from '../command.ts'
import { EXIT, type ExitCode } from '../exit-code.ts'
import { isPlanRun } from '../plan-runs/is-plan-run.ts'
import { jsonText } from '../render/json-text.ts'
import { refusalOf } from '../run/refusal.ts'
import { parseDuration } from '../units/parse-duration.ts'
import { showSize } from '../units/parse-size.ts'
import { blobsToGo } from './blobs-to-go.ts'
import { readKeyFile } from './key-file.ts'
import { openStore } from './open-store.ts'
import { requireStore } from './require-store.ts'
import { TENANT } from './run-place.ts'

const DEFAULT_GRACE_MS = 3_600_000
const LEASE_MS = 15_000
const ENTRIES_AT_ONCE = 1_000
/** Why a run is left alone: somebody holds it, or it cannot be read with these keys. */
const LEFT_ALONE: ReadonlySet<string> = new Set([
  'store_conflict',
  'lease_lost',
  'not_found',
  'corrupted',
  'invalid_argument',
  'checkpoint_refused',
  'encryption_required',
])

interface CollectPlan {
  /** Runs that have ended so long ago go; undefined: none. */
  readonly endedMs: number | undefined
  readonly graceMs: number
  readonly dryRun: boolean
  readonly keys: CheckpointKeys
}

/** @returns the exit code. @throws CliError */
export async function collectStore(given: GivenFlags, io: CliIo): Promise<ExitCode> {
  const place = requireStore(given, 'collect', io.cwd)
  const { name } = place
  const plan = await planCollection(given, io)
  const store = await openStore(place)
  try {
    const ended = plan.endedMs === undefined ? NOTHING_ENDED : await removeEnded(store, plan, plan.endedMs)
    const { graceMs, dryRun } = plan
    const collected = await store.collect({ graceMs, dryRun })
    const checkpoints = collected.removed + ended.checkpoints
    const bytes = collected.bytes + ended.bytes
    const { runs, leftAlone } = ended
    if (given.has('json')) io.stdout.write(`${jsonText({ dryRun, runs, leftAlone, checkpoints, bytes })}\n`)
    else {
      const verb = dryRun ? 'would remove' : 'removed'
      for (const run of runs) io.stdout.write(`${verb} run ${escapeText(run)}\n`)
      const what = checkpoints === 1 ? '1 checkpoint' : `${checkpoints} checkpoints`
      const logs =
        runs.length === 0 ? '' : ` and the logs of ${runs.length === 1 ? '1 run' : `${runs.length} runs`}`
      io.stdout.write(`${verb} ${what}${logs}, ${showSize(bytes)}\n`)
      for (const run of leftAlone) io.stderr.write(`left alone, held or unreadable: ${escapeText(run)}\n`)
    }
    return EXIT.done
  } catch (error) {
    throw refusalOf(error, { store: name })
  } finally {
    await store.close()
  }
}

async function planCollection(given: GivenFlags, { cwd }: CliIo): Promise<CollectPlan> {
  const ended = given.value('ended')
  const grace = given.value('grace')
  return {
    endedMs: ended === undefined ? undefined : parseDuration('ended', ended),
    graceMs: grace === undefined ? DEFAULT_GRACE_MS : parseDuration('grace', grace),
    dryRun: given.has('dry-run'),
    keys: await readKeyFile(given.value('key-file'), cwd),
  }
}

interface Ended {
  readonly runs: readonly string[]
  readonly leftAlone: readonly string[]
  /** That go with these runs, where they are not removed yet. */
  readonly checkpoints: number
  /** Of these, and of the logs of the runs. */
  readonly bytes: number
}

const NOTHING_ENDED: Ended = { runs: [], leftAlone: [], checkpoints: 0, bytes: 0 }

async function removeEnded(store: RunStore, plan: CollectPlan, endedMs: number): Promise<Ended> {
  const runs: string[] = []
  const leftAlone: string[] = []
  /** Of a dry run: what is old enough to make room at once. */
  const going = new Set<string>()
  /** Of the logs of runs that go. */
  let logBytes = 0
  const look = (run: string): Promise<DescribedRun> =>
    describeRun(store, run, { ports: nodeCheckpointPorts, keys: plan.keys }, TENANT)
  const names = await store.runs()
  const { plans, parts } = await sortPlans(store, names)
  const alone = names.filter((name) => !parts.has(name) && !plans.has(name))
  for (const run of [...plans, ...alone].sort()) {
    try {
      if (plans.has(run)) {
        const isEnded = async (forMs: number): Promise<boolean> =>
          (await isNothing(store, run)) || isPlanOver(store, run, plan.keys, forMs)
        if (!(await isEnded(endedMs))) continue
        const names = [run, ...partsOf(run, parts)]
        const bytes = await bytesOfLogs(store, names)
        if (plan.dryRun) {
          if (await isEnded(plan.graceMs)) for (const name of names) going.add(name)
        } else if (!(await removePlanRun(store, run, parts, () => isEnded(endedMs)))) continue
        logBytes += bytes
        runs.push(run)
        continue
      }
      const described = await look(run)
      if (!isOver(described, endedMs)) continue
      const bytes = await bytesOfLogs(store, [run])
      if (plan.dryRun) {
        if (isOver(described, plan.graceMs)) going.add(run)
      } else if (!(await removeHeld(store, run, async () => isOver(await look(run), endedMs)))) continue
      logBytes += bytes
      runs.push(run)
    } catch (error) {
      if (!CaissonError.is(error) || !LEFT_ALONE.has(error.code)) throw error
      leftAlone.push(run)
    }
  }
  const { checkpoints, bytes } = await blobsToGo(store, going)
  return { runs, leftAlone, checkpoints, bytes: bytes + logBytes }
}

/** What they say takes of the store: how it is stored is its own. */
async function bytesOfLogs(store: RunStore, names: readonly string[]): Promise<number> {
  let bytes = 0
  for (const name of names) {
    for (let at = 0; ; at += ENTRIES_AT_ONCE) {
      const entries = await store.entries(name, at, ENTRIES_AT_ONCE)
      for (const { length } of entries) bytes += length
      if (entries.length < ENTRIES_AT_ONCE) break
    }
    bytes += (await store.head(name))?.summary.length ?? 0
  }
  return bytes
}

function partsOf(run: string, parts: ReadonlySet<string>): readonly string[] {
  const own = [...parts].filter((part) => ownerOfPart(part) === run)
  const last = cutName(run)
  return own.includes(last) ? [...own.filter((part) => part !== last), last] : own
}

/** Under its lease: whoever makes a run holds that until its journal is there. */
async function isNothing(store: RunStore, run: string): Promise<boolean> {
  for (const name of [run, cutName(run)]) if ((await store.entries(name, 0, 1)).length > 0) return false
  return true
}

interface SortedPlans {
  /** Names of runs of plans, also of those of which nothing but parts is there. */
  readonly plans: ReadonlySet<string>
  /** What belongs to one of them. */
  readonly parts: ReadonlySet<string>
}

async function sortPlans(store: RunStore, names: readonly string[]): Promise<SortedPlans> {
  const plans = new Set<string>()
  const known = new Set(names)
  for (const name of names) {
    if (await isPlanRun(store, name)) plans.add(name)
    const owner = ownerOfPart(name)
    if (owner !== undefined && !known.has(owner)) plans.add(owner)
  }
  return { plans, parts: new Set(names.filter((name) => plans.has(ownerOfPart(name) ?? ''))) }
}

/** By its journal, whatever its head says. */
async function isPlanOver(
  store: RunStore,
  run: string,
  keys: CheckpointKeys,
  endedMs: number,
): Promise<boolean> {
  const parts = {
    store: watchedStore(store),
    sealing: { ports: nodeCheckpointPorts, keys },
    plans: new PlanShelf(),
  }
  const { state } = await readStanding(parts, { tenant: TENANT, principal: '', run })
  return ENDED.has(state.status ?? 'proposed') && Date.now() - state.timeMs >= endedMs
}

/** What belongs to it first: without the run, nobody would know whose they are. @returns whether it was removed */
async function removePlanRun(
  store: RunStore,
  run: string,
  parts: ReadonlySet<string>,
  still: () => Promise<boolean>,
): Promise<boolean> {
  const hold = await RunHold.take({ store: watchedStore(store), leaseMs: LEASE_MS }, run)
  try {
    if (!(await still())) return false
    for (const part of partsOf(run, parts)) await hold.removePart(part)
    await store.remove(run, hold.lease)
    return true
  } finally {
    await hold.giveBack()
  }
}

/** @returns whether it was removed */
async function removeHeld(store: RunStore, run: string, still: () => Promise<boolean>): Promise<boolean> {
  const lease = await store.lease(run, LEASE_MS)
  try {
    if (!(await still())) return false
    await store.remove(run, lease)
    return true
  } finally {
    await lease.release()
  }
}

function isOver({ end }: DescribedRun, endedMs: number): boolean {
  return end !== undefined && end.end.status !== 'exhausted' && Date.now() - end.atMs >= endedMs
}
