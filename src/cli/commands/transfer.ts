/** `caisson export` and `caisson import`: a run of a plan as one file. */
import type { Command } from '../command.ts'
import { PLAN_STORE } from '../plan-runs/plan-run-flags.ts'

export const exportCommand: Command = {
  name: 'export',
  summary: 'a run of a plan as one file, to look at or to go on with elsewhere',
  usage: 'export RUN --store DIR --output FILE [flags]',
  description: [
    'Writes everything that a run consists of into one file: its journal, its values, and the logs and checkpoints of its programs, with a digest of all of it, and with keys a MAC. Nobody may drive the run meanwhile.',
    'What is not encrypted in the store is not encrypted in the file.',
  ],
  positionals: { name: 'RUN', min: 1, max: 1 },
  groups: [
    {
      title: 'What is written',
      flags: [{ name: 'output', value: 'FILE', help: 'The file. One that is there is replaced.' }],
    },
    PLAN_STORE,
  ],
  examples: [['caisson export report --store runs --output report.run', 'all of the run']],
  run: async (given, io) => (await import('../plan-runs/transfer-run.ts')).exportPlanRun(given, io),
}

export const importCommand: Command = {
  name: 'import',
  summary: 'takes over a run of a plan that was exported: read-only until somebody confirms where it stands',
  usage: 'import FILE --store DIR [flags]',
  description: [
    'Reads all of the file as it would read the store (chain, MACs, events, plan and values) before anything is written. The run has the name that it had, which must be free. It can be shown and verified, and goes on only after caisson resume --confirm with the digest of exactly the point at which it stands.',
  ],
  positionals: { name: 'FILE', min: 1, max: 1 },
  groups: [PLAN_STORE],
  examples: [['caisson import report.run --store elsewhere', 'what caisson export wrote']],
  run: async (given, io) => (await import('../plan-runs/transfer-run.ts')).importPlanRun(given, io),
}
