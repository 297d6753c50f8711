/** `caisson receipts`: what each attempt of a node did, for somebody who was not there. */
import type { Command } from '../command.ts'
import { SIGNED_STORE } from '../plan-runs/plan-run-flags.ts'

export const receiptsCommand: Command = {
  name: 'receipts',
  summary: 'what each attempt of a node of a run of a plan did: digests, signed, one line of JSON each',
  usage: 'receipts RUN --store DIR [flags]',
  description: [
    'Prints a receipt for each attempt of a node that has ended, one line of JSON each: digests of plan, program, input, calls and output, the engine, fuel, times, and its place in the journal. No values. With --sign-key they are signed, for somebody who has nothing but the receipt and the public key; caisson verify --receipts FILE says whether they are of a run.',
  ],
  positionals: { name: 'RUN', min: 1, max: 1 },
  groups: [SIGNED_STORE],
  examples: [
    ['caisson receipts report --store runs --sign-key host.key > report.receipts', 'signed, in a file'],
    [
      'caisson verify report --store runs --signer host.key.pub --receipts report.receipts',
      'are they of this run?',
    ],
  ],
  run: async (given, io) => (await import('../plan-runs/print-receipts.ts')).printReceipts(given, io),
}
