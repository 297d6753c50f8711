/** `caisson export` and `caisson import`: a run of a plan as one file; `caisson erase` and `caisson compact`: one without its values, or without its journal. */
import type { Command } from '../command.ts'
import { PLAN_STORE, SIGNED_STORE, WHO } from '../plan-runs/plan-run-flags.ts'

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

export const eraseCommand: Command = {
  name: 'erase',
  summary: 'erase the values of a run of a plan for good; what happened can still be verified',
  usage: 'erase RUN --store DIR [flags]',
  description: [
    'Destroys the key that inputs, outputs, arguments and results of a run are encrypted under, and removes the logs and checkpoints of its programs. It cannot be undone. Journal, MACs and signatures stay, and caisson verify says who erased it, and when. Messages of errors, comments and reasons stay too.',
    'The run has to have ended, and to have been proposed with --erasable; otherwise it is refused, and nothing is changed. Of one that is damaged nobody can say whether it has ended: it is erased with --unreadable. Copies elsewhere (exports, forks, backups of the store) are not touched.',
  ],
  positionals: { name: 'RUN', min: 1, max: 1 },
  groups: [
    SIGNED_STORE,
    WHO,
    {
      title: 'What is damaged',
      flags: [
        {
          name: 'unreadable',
          help: 'Also where the journal or the key of the run cannot be read: it is damaged, or the keys given are others.',
        },
      ],
    },
  ],
  examples: [['caisson erase report --store runs', 'nobody reads its values any more']],
  run: async (given, io) => (await import('../plan-runs/transfer-run.ts')).eraseRun(given, io),
}

export const compactCommand: Command = {
  name: 'compact',
  summary: 'cut the journal of a run of a plan that has ended; a signed statement stands in its place',
  usage: 'compact RUN --store DIR [flags]',
  description: [
    'Removes the journal of a run that has ended, and the logs and checkpoints of its programs. What stands in their place says how many entries there were, and has digests of the journal, of the state that it led to, and of all receipts; with a signing key it is signed. The run is shown as before, and caisson verify says what was cut. Programs cannot be executed again afterwards: verify first.',
    'caisson collect frees the room of what is not needed any more.',
  ],
  positionals: { name: 'RUN', min: 1, max: 1 },
  groups: [SIGNED_STORE, WHO],
  examples: [['caisson compact report --store runs', 'a run that nobody looks at in detail any more']],
  run: async (given, io) => (await import('../plan-runs/transfer-run.ts')).compactRun(given, io),
}
