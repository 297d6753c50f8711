/** `caisson resume`: goes on with a program that was parked, or whose process died. */
import type { Command } from '../command.ts'
import { STOP_AT_CALL, WHERE_KEPT } from '../kept/keeping-flags.ts'
import { SIGN_KEY } from '../kept/sign-key.ts'
import { MORE_BUDGET } from '../plan-runs/read-resumption.ts'
import { BY } from '../plan-runs/who.ts'
import { LATER_LIMITS } from '../run/limit-flags.ts'
import { refusedDocument } from '../run/refused-document.ts'
import { HOW_IT_RUNS, NOW, RIGHTS_AGAIN } from '../run/right-flags.ts'

export const resumeCommand: Command = {
  name: 'resume',
  summary: 'go on with a program that was parked, or whose process died',
  usage: 'resume FILE|RUN [flags]',
  description: [
    'Goes on at the statement at which the program waits: from a checkpoint FILE that caisson run wrote, or with a RUN of a --store. Program, input, limits and randomness are its own; give the rights that it was started with again, by the same flags. Other or more rights are refused, by name; fewer directories and hosts are fine.',
    'Calls whose answers were recorded are not made again. A call that was made and whose answer nobody recorded is in doubt: it is made again by itself only if its capability is idempotent. Otherwise the program stays parked (exit code 6) until you --answer or --confirm. A FILE without the FILE.ledger that was written with it knows of no answers: every call that it waits for is in doubt.',
    'A run of a plan that was interrupted or stands still goes on from exactly the point that you saw: --confirm POINT, as caisson show tells it. One that waits goes on by itself with what was decided. It is driven until it is at rest, as by caisson plan start.',
    'A checkpoint can be gone on with once: an older one, and one whose run has ended, is refused (exit code 7).',
  ],
  positionals: { name: 'FILE or RUN', min: 1, max: 1 },
  groups: [
    WHERE_KEPT,
    {
      title: 'What you decide',
      flags: [
        {
          name: 'answer',
          value: 'ID=JSON',
          repeatable: true,
          help: 'Answers a call by hand: for one in doubt of which you know how it ended. ID=@file reads the answer. It is checked as if the capability had given it. Of a run of a plan: NODE=JSON, NODE=again where it did not happen, NODE=skip to leave it.',
        },
        {
          name: 'confirm',
          value: 'ID|DIGEST',
          repeatable: true,
          help: 'Lets a call in doubt be made again, by its id, or by the digest (in --json) of exactly what was asked. Of a run of a plan: the point from which it goes on.',
        },
        BY,
        { ...SIGN_KEY, help: `Of a run of a plan. ${SIGN_KEY.help}` },
        STOP_AT_CALL,
        {
          name: 'wasm',
          value: 'FILE',
          help: 'Of a module or a component: the file that it was started from, which is not kept. Another one is refused.',
        },
        {
          name: 'modules',
          value: 'DIR',
          help: 'Where the program finds what it imports from now on: the folder that it stood in. Needed only where it uses import().',
        },
        {
          name: 'reexecute',
          help: 'Takes the program from its start instead of from its checkpoint, on the engine of this version, through all that is recorded: for a program that was parked on an engine that is no more, or whose checkpoint is lost. Nothing that was answered is asked again. A program that does something else now is told (diverged, exit code 7), and nothing is changed.',
        },
      ],
    },
    RIGHTS_AGAIN,
    {
      title: 'Limits (what was used counts)',
      flags: [
        {
          name: 'add-fuel',
          value: 'N',
          help: 'Fuel on top of the limit that it had: for a program that ran out of it.',
        },
        ...LATER_LIMITS,
        ...MORE_BUDGET,
      ],
    },
    { ...HOW_IT_RUNS, flags: [...HOW_IT_RUNS.flags, NOW] },
  ],
  examples: [
    [
      'caisson resume p.ckpt --tools ./tools.js --grant prices.lookup',
      'a parked program, with the rights that it had',
    ],
    ['caisson resume p-k3f9xa --store runs', 'a run whose process was killed'],
    [`caisson resume p.ckpt --answer 2='{"price": 5}'`, 'say what call 2 was answered with'],
    ['caisson resume p.ckpt --confirm 2', 'call 2 did not take effect: make it again'],
    ['caisson resume p-k3f9xa --store runs --add-fuel 1e9', 'with more fuel, after it ran out'],
    [
      'caisson resume report-k3f9xa --store runs --tools ./tools.js --confirm sha256:…',
      'a run of a plan whose process was killed',
    ],
    ['caisson resume p.ckpt --allow-read new --change-rights', 'the directory that it reads was moved'],
    ['caisson resume p-k3f9xa --store runs --reexecute', 'parked before an update of the engine'],
  ],
  refusal: refusedDocument,
  run: async (given, io) => (await import('../kept/resume-program.ts')).resumeProgram(given, io),
}
