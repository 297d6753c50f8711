/** What `caisson fork` does. */
import { CliError } from '../cli-error.ts'
import type { CliIo } from '../cli-io.ts'
import type { GivenFlags } from '../command.ts'
import { EXIT } from '../exit-code.ts'
import { newRunName } from '../kept/run-name.ts'
import { TENANT } from '../kept/run-place.ts'
import { jsonText } from '../render/json-text.ts'
import { parseCount } from '../units/parse-count.ts'
import { nextCommands } from './next-commands.ts'
import { nextLines } from './next-lines.ts'
import { givenRunName } from './plan-run-name.ts'
import { inPlanSession } from './plan-session.ts'
import { readBy } from './who.ts'

/** @returns the exit code. @throws CliError */
export async function forkPlanRun(given: GivenFlags, io: CliIo): Promise<number> {
  const [name = ''] = given.positionals
  const at = given.value('at')
  if (at === undefined) {
    throw new CliError({
      exit: EXIT.usage,
      code: 'usage',
      message: 'Say how many events are taken over: --at N.',
      hint: 'caisson plan events RUN numbers them, from 0 on.',
    })
  }
  const count = parseCount('at', at, '24')
  const wanted = givenRunName(given)
  return inPlanSession(given, io, { command: 'fork', run: name, tools: false }, async (session) => {
    const { runtime, storeName } = session
    const origin = await runtime.planRun(name, { domain: TENANT })
    const options = {
      at: count,
      by: readBy(given),
      run: wanted ?? newRunName(origin.plan.name),
      domain: TENANT,
    }
    const run = await runtime.fork(name, options)
    const view = await run.view()
    const next = nextCommands({ view, plan: run.plan, requests: [], doubts: [] }, storeName, given)
    if (given.has('json')) {
      const { status, point, events } = view
      const document = {
        status,
        run: run.run,
        store: storeName,
        point,
        events,
        next: next.map(({ command }) => command),
      }
      io.stdout.write(`${jsonText(document)}\n`)
    } else {
      const lines = [`forked: run ${run.run} is ${view.status}`, ...nextLines(next, io.stdout.columns - 1)]
      io.stdout.write(lines.map((line) => `${line}\n`).join(''))
    }
    return EXIT.done
  })
}
