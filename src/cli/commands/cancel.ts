/** `caisson cancel`: ends a run of a plan, and undoes what can be undone. */
import type { Command } from '../command.ts'
import { PLAN_TOOLS, SIGNED_STORE, WHO } from '../plan-runs/plan-run-flags.ts'

export const cancelCommand: Command = {
  name: 'cancel',
  summary: 'end a run of a plan, and undo what its plan says how to undo',
  usage: 'cancel RUN --store DIR --reason TEXT [flags]',
  description: [
    'Nothing more is begun. What was done and says how it is undone (compensate) is undone, the last first; that needs the tools of the plan. Exit code 0: it is cancelled, and all that can be undone is. 3: something could not be undone; it is named.',
  ],
  positionals: { name: 'RUN', min: 1, max: 1 },
  groups: [
    { title: 'Why', flags: [{ name: 'reason', value: 'TEXT', help: 'Is written down.' }] },
    SIGNED_STORE,
    PLAN_TOOLS,
    WHO,
  ],
  examples: [
    [
      'caisson cancel report --store runs --tools ./tools.js --reason "not needed any more"',
      'a run that waits',
    ],
  ],
  run: async (given, io) => (await import('../plan-runs/start-run.ts')).cancelRun(given, io),
}
