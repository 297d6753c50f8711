/** `caisson fork`: a new run of a plan from a point of another one. */
import type { Command } from '../command.ts'
import { SIGNED_STORE, WHO } from '../plan-runs/plan-run-flags.ts'

export const forkCommand: Command = {
  name: 'fork',
  summary: 'a new run from a point of another one: what happened up to there, and nothing after it',
  usage: 'fork RUN --at N --store DIR [flags]',
  description: [
    'Takes over the first N events of a run (caisson plan events numbers them from 0). No effect, answer or decision after that is taken over, and none before it is made again; keys and random streams are its own. It stands still until somebody confirms its point.',
    'Where a call was under way, or a person was asked, there is no fork: choose a point before or after that (exit code 2).',
  ],
  positionals: { name: 'RUN', min: 1, max: 1 },
  groups: [
    {
      title: 'What is taken over',
      flags: [
        { name: 'at', value: 'N', help: 'How many events, from 1 on.' },
        {
          name: 'run',
          value: 'NAME',
          help: 'The name of the new run. Default: of the plan, and six characters.',
        },
      ],
    },
    SIGNED_STORE,
    WHO,
  ],
  examples: [
    ['caisson fork report --at 24 --store runs --run report-2', 'as if only 24 events had happened'],
  ],
  run: async (given, io) => (await import('../plan-runs/fork-plan-run.ts')).forkPlanRun(given, io),
}
