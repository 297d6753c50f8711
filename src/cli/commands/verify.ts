/** `caisson verify`: looks at a run of a plan again, from its record. */
import type { Command } from '../command.ts'
import { PLAN_STORE, PLAN_TOOLS } from '../plan-runs/plan-run-flags.ts'

export const verifyCommand: Command = {
  name: 'verify',
  summary: 'whether the record of a run of a plan is whole, and comes out the same when executed again',
  usage: 'verify RUN --store DIR [flags]',
  description: [
    'Reads everything that is recorded of a run, and changes nothing: whether it hangs together, every value and plan by its digest, with keys every MAC. Programs and expressions are executed again with the recorded answers; nothing is called, but programs are given functions of the names that they had: give the tools again. Exit code 0: all of it comes out the same, to the last unit of fuel. 7: it does not; the first difference is named, with its place.',
    'Whoever can write to a store without keys can write a record anew that hangs together. A signature (--signer), or where the run was seen to stand before (--known), tells that.',
  ],
  positionals: { name: 'RUN', min: 1, max: 1 },
  groups: [
    PLAN_STORE,
    PLAN_TOOLS,
    {
      title: 'What is known of it',
      flags: [
        {
          name: 'signer',
          value: 'FILE|KEY',
          repeatable: true,
          help: 'A public key whose signatures count: a file (FILE.pub of caisson keys new, or PEM of openssl), or its 64 hexadecimal digits. Then the whole journal has to be signed.',
        },
        {
          name: 'receipts',
          value: 'FILE',
          help: 'Receipts that caisson receipts printed: each must be one of this run, and with --signer signed.',
        },
        {
          name: 'known',
          value: 'N=POINT',
          repeatable: true,
          help: 'After N events it stood at this point, as caisson show tells both: a journal that was cut off, or is another one, leads through it no more.',
        },
      ],
    },
  ],
  examples: [
    ['caisson verify report --store runs --tools ./tools.js', 'is it whole, and does it come out the same?'],
    [
      'caisson verify report --store runs --tools ./tools.js --signer host.pub.pem',
      'and is it signed by this host?',
    ],
    [
      'caisson verify report --store runs --tools ./tools.js --known 36=sha256:…',
      'and is it the one that I saw?',
    ],
  ],
  run: async (given, io) => (await import('../plan-runs/verify-plan-run.ts')).verifyPlanRun(given, io),
}
