/** `caisson collect`: makes room in a store of runs. */
import type { Command } from '../command.ts'
import { KEY_FILE } from '../kept/keeping-flags.ts'

export const collectCommand: Command = {
  name: 'collect',
  summary: 'make room in a store: checkpoints that no run needs, runs that have ended',
  usage: 'collect --store DIR [flags]',
  description: [
    'Removes checkpoints that no run needs any more: a run that goes on leaves them behind. What a run stands on is never removed, and nothing of a run that waits. With --ended, runs that completed or failed so long ago are removed before that, with their logs and what they stand on: then they cannot be asked for their outcome again.',
    'Processes that work on runs of the store need not stop meanwhile. Runs that are held by one, and runs that cannot be read, are left alone.',
  ],
  positionals: { name: '', min: 0, max: 0 },
  groups: [
    {
      title: 'What is removed',
      flags: [
        { name: 'store', value: 'DIR', help: 'The folder of caisson run --store.' },
        {
          name: 'ended',
          value: '30d',
          help: 'Also runs that have ended at least so long ago: 12h, 30d. A run that reached a limit has not ended: it can go on with more.',
        },
        {
          name: 'grace',
          value: '1h',
          help: 'Leaves younger checkpoints alone: a process may be about to need one that it has just written. Default 1h.',
        },
        { name: 'dry-run', help: 'Says what would be removed, and removes nothing.' },
        KEY_FILE,
      ],
    },
  ],
  examples: [
    ['caisson collect --store runs --dry-run', 'what there is to gain'],
    ['caisson collect --store runs', 'remove checkpoints that no run needs'],
    ['caisson collect --store runs --ended 30d --json', 'from time to time, by a machine'],
  ],
  run: async (given, io) => (await import('../kept/collect-store.ts')).collectStore(given, io),
}
