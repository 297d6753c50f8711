/** `caisson resume`: goes on with a program that was parked, or whose process died. */
import { resolve } from 'node:path'
import type { CliIo } from '../cli-io.ts'
import type { Command, GivenFlags } from '../command.ts'
import { type Found, type FoundFile, findKept } from '../kept/find-kept.ts'
import { readStopAtCall } from '../kept/keep-plan.ts'
import { STOP_AT_CALL, WHERE_KEPT } from '../kept/keeping-flags.ts'
import { readKeyFile } from '../kept/key-file.ts'
import { readDecisions } from '../kept/read-decisions.ts'
import { type Parts, type ResumePlan, restoreFile, resumeKept } from '../kept/resume-run.ts'
import { findPackageRoot } from '../package-root.ts'
import { grantRights } from '../run/grant-rights.ts'
import { interruptibly } from '../run/interruption.ts'
import { LATER_LIMITS, readLimits } from '../run/limit-flags.ts'
import { refusalOf } from '../run/refusal.ts'
import { HOW_IT_RUNS, NOW, RIGHTS } from '../run/right-flags.ts'
import { refusedDocument } from '../run/run-document.ts'
import { readClock, readThread } from '../run/run-plan.ts'
import { tellOutcome } from '../run/tell-outcome.ts'
import { ToolFailures } from '../run/tool-failures.ts'
import { parseCount } from '../units/parse-count.ts'

export const resumeCommand: Command = {
  name: 'resume',
  summary: 'go on with a program that was parked, or whose process died',
  usage: 'resume FILE|RUN [flags]',
  description: [
    'Goes on at the statement at which the program waits: from a checkpoint FILE that caisson run wrote, or with a RUN of a --store. Program, input, limits and randomness are its own; give the rights that it was started with again, by the same flags.',
    'Calls whose answers were recorded are not made again. A call that was made and whose answer nobody recorded is in doubt: it is made again by itself only if its capability is idempotent. Otherwise the program stays parked (exit code 6) until you --answer or --confirm. A FILE without the FILE.ledger that was written with it knows of no answers: every call that it waits for is in doubt.',
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
          help: 'Answers a call by hand: for one in doubt of which you know how it ended. ID=@file reads the answer. It is checked as if the capability had given it.',
        },
        {
          name: 'confirm',
          value: 'ID|DIGEST',
          repeatable: true,
          help: 'Lets a call in doubt be made again, by its id, or by the digest (in --json) of exactly what was asked.',
        },
        STOP_AT_CALL,
      ],
    },
    RIGHTS,
    {
      title: 'Limits (what was used counts)',
      flags: [
        {
          name: 'add-fuel',
          value: 'N',
          help: 'Fuel on top of the limit that it had: for a program that ran out of it.',
        },
        ...LATER_LIMITS,
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
  ],
  refusal: refusedDocument,
  run: resume,
}

async function planResume(given: GivenFlags, io: CliIo): Promise<ResumePlan> {
  const fuel = given.value('add-fuel')
  return {
    limits: readLimits(given, 'resume'),
    addFuel: fuel === undefined ? undefined : parseCount('add-fuel', fuel, '2_000_000_000'),
    stopAtCall: readStopAtCall(given),
    thread: readThread(given.value('thread'), 'resume'),
    clock: readClock(given.value('now')),
    keys: await readKeyFile(given.value('key-file'), io.cwd),
    decisions: await readDecisions(given, io),
  }
}

async function resume(given: GivenFlags, io: CliIo): Promise<number> {
  return interruptibly(given, io, async (interruption) => {
    const plan = await interruption.during(planResume(given, io))
    const found = await interruption.during(findKept(given, io.cwd))
    try {
      return await goOn(found, plan, given, interruption.signal, io)
    } catch (error) {
      throw refusalOf(error, true)
    } finally {
      await found.kept?.store.close()
    }
  })
}

async function goOn(
  found: Found,
  plan: ResumePlan,
  given: GivenFlags,
  signal: AbortSignal,
  io: CliIo,
): Promise<number> {
  const rights = await grantRights(given, pathsOf(found, io.cwd), io.cwd)
  const failures = new ToolFailures(rights.tools, findPackageRoot().code)
  try {
    const parts: Parts = { plan, given, rights, failures, signal, io }
    const { kept, file } = found
    const { source, fileName, limits, ...end } =
      kept !== undefined ? await resumeKept(kept, file, parts) : await restoreFile(file as FoundFile, parts)
    const facts = { source, fileName, limits, withheld: rights.withheld, goOn: end.goOn }
    return tellOutcome(
      {
        outcome: end.outcome,
        facts,
        failures,
        keptAs: end.keptAs,
        json: given.has('json'),
        interrupted: signal.aborted,
      },
      io,
    )
  } finally {
    await rights.close()
  }
}

/** What no program may write to: what is believed of its run. */
function pathsOf({ kept, file }: Found, cwd: string): readonly string[] {
  const store = kept === undefined ? [] : [resolve(cwd, kept.storeName)]
  return file === undefined ? store : [...store, file.place.path]
}
