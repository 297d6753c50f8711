/** `caisson doctor`: what this runtime supports, whether the engine is the one that was built, and what to fix. */
import type { Command } from '../command.ts'
import { KEY_FILE } from '../kept/keeping-flags.ts'

export const doctorCommand: Command = {
  name: 'doctor',
  summary: 'what this runtime supports, with fixes, and a self test',
  usage: 'doctor [flags]',
  description: [
    'Checks the runtime, its WebAssembly features, the engine files against the digests that they were built with, and runs a small program on this thread and in a Worker. Exits with 0 when programs can run (warnings included), with 7 when an engine file is missing or was changed, else with 1.',
    'With --store it also says which parked programs need which engine. A program goes on with the build that it was parked on: caisson resume takes that one by itself where it is at hand. Where it is not, caisson resume --reexecute takes the program from its start on this one, with all answers that are recorded; or finish the run with the version of caisson that has its engine.',
  ],
  positionals: { name: '', min: 0, max: 0 },
  groups: [
    {
      title: 'What it looks at, too',
      flags: [
        { name: 'store', value: 'DIR', help: 'The runs in this folder, and the engines that they need.' },
        KEY_FILE,
      ],
    },
  ],
  examples: [
    ['caisson doctor', 'look at everything'],
    ['caisson doctor --json', 'for a bug report'],
    ['caisson doctor --store runs', 'after an update: what waits for an earlier engine'],
  ],
  run: async (given, io) => (await import('../doctor/examine.ts')).examine(given, io),
}
