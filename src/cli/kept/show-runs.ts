/** What `caisson runs` does. */
import { nodeCheckpointPorts } from '../../../host-bindings/system/checkpoint-ports.node.ts'
import { escapeText } from '../../base/escape-text.ts'
import { type ListedRun, listRuns } from '../../runtime/describe-run.ts'
import { ownerOfPart } from '../../runtime/plans/part-names.ts'
import { isTime } from '../../runtime/sound-clock.ts'
import type { CliIo } from '../cli-io.ts'
import type { GivenFlags } from '../command.ts'
import { EXIT, type ExitCode } from '../exit-code.ts'
import { jsonText } from '../render/json-text.ts'
import { runsTable } from '../render/runs-table.ts'
import { refusalOf } from '../run/refusal.ts'
import { openStore } from './open-store.ts'
import { requireStore } from './require-store.ts'
import { TENANT } from './run-place.ts'

/** @returns the exit code. @throws CliError */
export async function showRuns(given: GivenFlags, io: CliIo): Promise<ExitCode> {
  const place = requireStore(given, 'runs', io.cwd)
  const { name } = place
  const store = await openStore(place)
  let runs: readonly ListedRun[]
  try {
    runs = await listRuns(store, { ports: nodeCheckpointPorts }, TENANT)
  } catch (error) {
    throw refusalOf(error, { store: name })
  } finally {
    await store.close()
  }
  const shown = given.has('all') ? runs : withoutParts(runs)
  const sorted = shown.toSorted((a, b) => atOf(b) - atOf(a))
  if (given.has('json')) io.stdout.write(`${jsonText({ runs: sorted.map(runEntry) })}\n`)
  else if (sorted.length === 0) io.stderr.write(`no runs in ${escapeText(name)}\n`)
  else io.stdout.write(runsTable(sorted, Date.now(), io.stdout))
  return EXIT.done
}

/** Without what belongs to runs of plans. */
function withoutParts(runs: readonly ListedRun[]): readonly ListedRun[] {
  const plans = new Set(runs.flatMap(({ run, plan }) => (plan === undefined ? [] : [run])))
  return runs.filter(({ run, isShelf }) => isShelf !== true && !plans.has(ownerOfPart(run) ?? ''))
}

function atOf({ summary, plan }: ListedRun): number {
  return summary?.atMs ?? plan?.atMs ?? 0
}

function runEntry(listed: ListedRun): object {
  const { run, summary, checkpoints, checkpointBytes, missing, engine, plan } = listed
  const at = atOf(listed)
  return {
    run,
    status: summary?.status ?? plan?.status ?? null,
    pending: summary?.pending ?? [],
    plan: plan?.plan ?? null,
    requests: plan?.requests ?? 0,
    events: plan?.events ?? [],
    at: isTime(at) && at > 0 ? new Date(at).toISOString() : null,
    checkpoints,
    checkpointBytes,
    missing,
    engine: engine ?? null,
  }
}
