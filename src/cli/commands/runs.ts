/** `caisson runs`: what is kept in a store, on what it waits, how large and how old it is. */
import { nodeCheckpointPorts } from '../../../host-bindings/system/checkpoint-ports.node.ts'
import { escapeText } from '../../base/escape-text.ts'
import { type ListedRun, listRuns } from '../../runtime/describe-run.ts'
import { CliError } from '../cli-error.ts'
import type { CliIo } from '../cli-io.ts'
import type { Command, GivenFlags } from '../command.ts'
import { EXIT, type ExitCode } from '../exit-code.ts'
import { openStore } from '../kept/open-store.ts'
import { TENANT } from '../kept/run-place.ts'
import { jsonText } from '../render/json-text.ts'
import { runsTable } from '../render/runs-table.ts'
import { refusalOf } from '../run/refusal.ts'

export const runsCommand: Command = {
  name: 'runs',
  summary: 'the runs that are kept in a store: status, sizes, ages, on what they wait',
  usage: 'runs --store DIR [flags]',
  description: [
    'Lists the runs of a store, the youngest first. "running": begun, and not checkpointed yet. "waiting": its newest checkpoint waits for these calls. Whether a process works on it right now is not shown; caisson resume refuses while one does.',
    'On a terminal it is a table; in a pipe, one line for each run with tabs in between: name, status, age, number and size of checkpoints, what it waits for. What the list tells was written by whoever wrote to the store, and nothing is decided by it.',
  ],
  positionals: { name: '', min: 0, max: 0 },
  groups: [
    {
      title: 'Where they are kept',
      flags: [
        {
          name: 'store',
          value: 'DIR',
          help: 'The folder of caisson run --store, or the FILE.ledger beside a checkpoint file.',
        },
      ],
    },
  ],
  examples: [
    ['caisson runs --store runs', 'what is kept there'],
    ["caisson runs --store runs | awk -F'\\t' '$2 == \"waiting\" {print $1}'", 'names of the runs that wait'],
  ],
  run: list,
}

async function list(given: GivenFlags, io: CliIo): Promise<ExitCode> {
  const store = await openStore(requireStore(given, 'runs'), io.cwd)
  let runs: readonly ListedRun[]
  try {
    runs = await listRuns(store, { ports: nodeCheckpointPorts }, TENANT)
  } catch (error) {
    throw refusalOf(error, true)
  } finally {
    await store.close()
  }
  const sorted = runs.toSorted((a, b) => (b.summary?.atMs ?? 0) - (a.summary?.atMs ?? 0))
  if (given.has('json')) io.stdout.write(`${jsonText({ runs: sorted.map(runEntry) })}\n`)
  else if (sorted.length === 0) io.stderr.write(`no runs in ${escapeText(given.value('store') ?? '')}\n`)
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

/** @throws CliError usage without `--store` */
function requireStore(given: GivenFlags, command: string): string {
  const store = given.value('store')
  if (store !== undefined) return store
  throw new CliError({
    exit: EXIT.usage,
    code: 'usage',
    message: `caisson ${command} needs --store DIR: the folder that runs are kept in.`,
    hint: `caisson ${command} --help`,
  })
}
