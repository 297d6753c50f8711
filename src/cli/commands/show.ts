/** `caisson show`: one parked program in detail, without going on with it. */
import type { Command } from '../command.ts'
import { WHERE_KEPT } from '../kept/keeping-flags.ts'

export const showCommand: Command = {
  name: 'show',
  summary: 'one parked program or run of a plan in detail: what is done, what is in doubt, who is asked',
  usage: 'show FILE|RUN [flags]',
  description: [
    'Shows what a checkpoint FILE says of itself and how its run stands by the ledger beside it, or how a RUN of a --store stands. Nothing is run or changed.',
    'Of a run of a plan: the tree of its nodes, what it used and has left, every request to a person with all that is to be decided over, calls in doubt, and the point that caisson resume --confirm takes.',
    'A file without a verified MAC can have been written by anybody: what it says is shown and not believed. With --key-file, a file that was not written with the key is refused (exit code 7).',
  ],
  positionals: { name: 'FILE or RUN', min: 1, max: 1 },
  groups: [WHERE_KEPT],
  examples: [
    ['caisson show p.ckpt', 'a checkpoint file, and how its run stands'],
    ['caisson show p-k3f9xa --store runs', 'a run of a store'],
    ['caisson show p.ckpt --json', 'for machines'],
  ],
  run: async (given, io) => (await import('../kept/show-kept.ts')).showKept(given, io),
}
