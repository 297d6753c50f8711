/** What `caisson run` does. */
import type { Outcome } from '../../runtime/outcome.ts'
import type { CliIo } from '../cli-io.ts'
import type { GivenFlags } from '../command.ts'
import type { KeptEnd } from '../kept/keep-run.ts'
import { findPackageRoot } from '../package-root.ts'
import { inRuntime } from './in-runtime.ts'
import { interruptibly } from './interruption.ts'
import { optionsFor, planRun, type RunPlan, runtimeFor } from './run-plan.ts'
import { tellOutcome } from './tell-outcome.ts'
import { ToolFailures } from './tool-failures.ts'

/** @returns the exit code. @throws CliError */
export async function runProgram(given: GivenFlags, io: CliIo): Promise<number> {
  return interruptibly(given, io, async (interruption) => {
    const plan = await interruption.during(planRun(given, io))
    const { program, modules, limits, rights, keep } = plan
    const failures = new ToolFailures(rights.tools, findPackageRoot().code)
    try {
      const ended =
        keep === undefined
          ? { outcome: await runOnce(plan, failures, interruption.signal, io) }
          : await (await import('../kept/keep-run.ts')).keepRun(
              {
                setting: runtimeFor(plan, failures),
                scope: rights.scope,
                run: (runtime, thread, own) =>
                  runtime.run(program.source, {
                    ...optionsFor(plan, interruption.signal),
                    ...own,
                    thread,
                  }),
              },
              keep,
              given,
              io,
            )
      const { outcome, goOn, keptAs }: KeptEnd = ended
      const { source } = program
      const facts = { source, modules, limits, withheld: rights.withheld, goOn }
      const interrupted = interruption.signal.aborted
      return tellOutcome({ outcome, facts, failures, keptAs, json: given.has('json'), interrupted }, io)
    } finally {
      await rights.close()
    }
  })
}

function runOnce(plan: RunPlan, failures: ToolFailures, signal: AbortSignal, io: CliIo): Promise<Outcome> {
  return inRuntime(runtimeFor(plan, failures), io, (runtime, thread) =>
    runtime.run(plan.program.source, { ...optionsFor(plan, signal), thread }),
  )
}
