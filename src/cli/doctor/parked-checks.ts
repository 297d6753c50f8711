/** Parked programs and the engines that they need: after an update, some may wait for an earlier build. */
import { nodeCheckpointPorts } from '../../../host-bindings/system/checkpoint-ports.node.ts'
import { CaissonError } from '../../base/errors.ts'
import { openRuntime } from '../../entry/node.ts'
import { ENGINE_MANIFEST } from '../../isolate/engine-manifest.ts'
import { type ListedRun, listRuns } from '../../runtime/describe-run.ts'
import type { CliIo } from '../cli-io.ts'
import type { GivenFlags } from '../command.ts'
import { readKeyFile } from '../kept/key-file.ts'
import { openStore } from '../kept/open-store.ts'
import { TENANT } from '../kept/run-place.ts'
import { placeOf } from '../kept/store-place.ts'
import { shellQuote } from '../render/shell-quote.ts'
import { refusalOf } from '../run/refusal.ts'
import type { Check } from './check.ts'

const MOST_NAMED = 10

/** Nothing without `--store`. @throws CliError where there is no store, or it cannot be read */
export async function checkParked(given: GivenFlags, io: CliIo): Promise<readonly Check[]> {
  const named = given.value('store')
  if (named === undefined) return []
  const place = placeOf(named, io.cwd)
  const { name } = place
  const keys = await readKeyFile(given.value('key-file'), io.cwd)
  const store = await openStore(place)
  try {
    const runs = await listRuns(store, { ports: nodeCheckpointPorts, keys }, TENANT)
    return await checksOf(runs, name)
  } catch (error) {
    throw refusalOf(error, { store: name })
  } finally {
    await store.close()
  }
}

async function checksOf(all: readonly ListedRun[], storeName: string): Promise<readonly Check[]> {
  // A run of a plan needs no engine by itself; its programs are runs of their own.
  const runs = all.filter(({ plan, isShelf }) => plan === undefined && isShelf !== true)
  const damaged = runs.filter(({ missing, summary }) => missing > 0 || summary === undefined)
  const parked = runs.filter(({ summary, missing }) => missing === 0 && mayGoOn(summary?.status))
  const byEngine = new Map<string | undefined, ListedRun[]>()
  for (const run of parked) byEngine.set(run.engine, [...(byEngine.get(run.engine) ?? []), run])
  const checks: Check[] = []
  for (const [engine, those] of byEngine) checks.push(await engineCheck(engine, those, storeName))
  if (damaged.length > 0) {
    checks.push({
      name: 'damaged runs',
      status: 'warn',
      detail: namesOf(damaged),
      fix: `Restore ${shellQuote(storeName)} from a copy; caisson show RUN --store ${shellQuote(storeName)} says what is missing.`,
    })
  }
  if (checks.length > 0) return checks
  return [{ name: 'parked programs', status: 'ok', detail: `none in ${storeName}` }]
}

async function engineCheck(
  engine: string | undefined,
  runs: readonly ListedRun[],
  storeName: string,
): Promise<Check> {
  const resume = `caisson resume RUN --store ${shellQuote(storeName)}`
  if (engine === undefined) {
    return {
      name: 'parked, engine unknown',
      status: 'warn',
      detail: namesOf(runs),
      fix: 'Give the keys that they were written with: --key-file FILE.',
    }
  }
  const name = `parked on ${engine}`
  const detail = namesOf(runs)
  if (engine === ENGINE_MANIFEST.id)
    return { name, status: 'ok', detail: `${detail}; the engine of this version` }
  if (await isAtHand(engine)) {
    return {
      name,
      status: 'warn',
      detail: `${detail}; there is a newer build, ${ENGINE_MANIFEST.id}`,
      fix: `Finish them on their own engine, which is at hand: ${resume}. Or take them from their start on the newer one: add --reexecute.`,
    }
  }
  return {
    name,
    status: 'warn',
    detail: `${detail}; this engine is not at hand`,
    fix: `Take them from their start on the engine of this version, with all answers that are recorded: ${resume} --reexecute. Or finish them with the version of caisson that has their engine.`,
  }
}

async function isAtHand(engine: string): Promise<boolean> {
  try {
    const runtime = await openRuntime({ engineId: engine })
    await runtime.close()
    return true
  } catch (error) {
    if (CaissonError.is(error)) return false
    throw error
  }
}

function mayGoOn(status: string | undefined): boolean {
  return status === 'running' || status === 'waiting' || status === 'exhausted'
}

function namesOf(runs: readonly ListedRun[]): string {
  const named = runs.slice(0, MOST_NAMED).map(({ run }) => run)
  const rest = runs.length - named.length
  return rest > 0 ? `${named.join(', ')} and ${rest} more` : named.join(', ')
}
