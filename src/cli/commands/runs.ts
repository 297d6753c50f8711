/** `caisson runs`: what is kept in a store, on what it waits, how large and how old it is. */
import type { Command } from '../command.ts'

export const runsCommand: Command = {
  name: 'runs',
  summary: 'the runs that are kept in a store: status, sizes, ages, on what they wait',
  usage: 'runs --store DIR [flags]',
  description: [
    'Lists the runs of a store, the youngest first. "running": begun, and not checkpointed yet. "waiting": it waited for these calls when it was last put down; caisson show says which of them have an answer by now. Whether a process works on it right now is not shown; caisson resume refuses while one does.',
    'Runs of plans stand beside them, with the plan in the place of checkpoints; programs of theirs and lists of their values are left out without --all.',
    'On a terminal it is a table; in a pipe, one line for each run with tabs in between: name, status, age, number and size of checkpoints or the plan, what it waits for. What the list tells was written by whoever wrote to the store, and nothing is decided by it.',
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
    {
      title: 'What is shown',
      flags: [
        { name: 'all', help: 'Also what belongs to runs of plans: their programs, and lists of values.' },
      ],
    },
  ],
  examples: [
    ['caisson runs --store runs', 'what is kept there'],
    ["caisson runs --store runs | awk -F'\\t' '$2 == \"waiting\" {print $1}'", 'names of the runs that wait'],
  ],
  run: async (given, io) => (await import('../kept/show-runs.ts')).showRuns(given, io),
}
