/** What `caisson runs` does. */
import { nodeCheckpointPorts } from '../../../host-bindings/system/checkpoint-ports.node.ts'
import { escapeText } from '../../base/escape-text.ts'
import { type ListedRun, listRuns } from '../../runtime/describe-run.ts'
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
  const sorted = runs.toSorted((a, b) => (b.summary?.atMs ?? 0) - (a.summary?.atMs ?? 0))
  if (given.has('json')) io.stdout.write(`${jsonText({ runs: sorted.map(runEntry) })}\n`)
  else if (sorted.length === 0) io.stderr.write(`no runs in ${escapeText(name)}\n`)
  else io.stdout.write(runsTable(sorted, Date.now(), io.stdout))
  return EXIT.done
}

function runEntry({ run, summary, checkpoints, checkpointBytes, missing, engine }: ListedRun): object {
  return {
    run,
    status: summary?.status ?? null,
    pending: summary?.pending ?? [],
    at: summary?.atMs ? new Date(summary.atMs).toISOString() : null,
    checkpoints,
    checkpointBytes,
    missing,
    engine: engine ?? null,
  }
}
