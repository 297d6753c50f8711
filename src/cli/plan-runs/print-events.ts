/** What `caisson plan events` does. */
import { CaissonError } from '../../base/errors.ts'
import { clipText, escapeText } from '../../base/escape-text.ts'
import { nearNames } from '../../capability/near-names.ts'
import type { EventType } from '../../graph/run/run-event.ts'
import { RUN_EVENT_SHAPES } from '../../graph/run/run-event-shapes.ts'
import type { PositionedEvent } from '../../runtime/plans/plan-run.ts'
import { CliError } from '../cli-error.ts'
import type { CliIo } from '../cli-io.ts'
import type { GivenFlags } from '../command.ts'
import { EXIT } from '../exit-code.ts'
import { TENANT } from '../kept/run-place.ts'
import { styleFor } from '../render/style.ts'
import { Interruption } from '../run/interruption.ts'
import { parseCount } from '../units/parse-count.ts'
import { eventJson } from './event-json.ts'
import { eventWords } from './event-words.ts'
import { inPlanSession } from './plan-session.ts'

/** @returns the exit code. @throws CliError */
export async function printEvents(given: GivenFlags, io: CliIo): Promise<number> {
  const [name = ''] = given.positionals
  const types = given.values('type').map(readType)
  const nodes = given.values('node')
  const text = given.value('from')
  const from = text === undefined ? 0 : parseCount('from', text, '12')
  const interruption = new Interruption()
  const ignore = io.onInterrupt(() => interruption.interrupt())
  try {
    return await inPlanSession(
      given,
      io,
      { command: 'plan events', run: name, tools: false },
      async (session) => {
        const run = await session.runtime.planRun(name, { domain: TENANT })
        const { cut } = await run.view()
        if (cut !== undefined) throw journalWasCut(name, cut.entries)
        const events = run.events({
          from,
          until: given.has('follow') ? 'end' : 'now',
          signal: interruption.signal,
          ...(types.length > 0 && { types }),
          ...(nodes.length > 0 && { nodes }),
        })
        const line = given.has('json') ? eventJson : lineFor(io)
        for await (const told of events) io.stdout.write(`${line(told)}\n`)
        return interruption.signal.aborted ? EXIT.interrupted : EXIT.done
      },
    )
  } finally {
    ignore()
  }
}

/** Position, time, node and what happened: in columns for people, with tabs between them in a pipe. */
function lineFor({ stdout }: CliIo): (told: PositionedEvent) => string {
  const style = styleFor(stdout)
  return ({ position, event }) => {
    const time = new Date(event.timeMs).toISOString()
    const node = 'node' in event && event.type !== 'failing' ? escapeText(event.node) : '-'
    const words = eventWords(event, event.timeMs)
    if (!stdout.isTerminal) return [position, time, event.type, node, words].join('\t')
    const who = node === '-' ? 'run' : node
    return `${String(position).padStart(4)}  ${style.dim(time.slice(11, 23))}  ${style.bold(who)}  ${words}`
  }
}

/** Nothing printed would look like nothing having happened. */
function journalWasCut(run: string, entries: number): CaissonError {
  const message = `The journal of run "${run}" was cut after ${entries} events: what they were is not there any more.`
  return new CaissonError('invalid_transition', message, { details: { run } })
}

/** @throws CliError usage */
function readType(text: string): EventType {
  const types = Object.keys(RUN_EVENT_SHAPES) as EventType[]
  const type = types.find((one) => one === text)
  if (type !== undefined) return type
  const [near] = nearNames(text, types)
  throw new CliError({
    exit: EXIT.usage,
    code: 'usage',
    message: `--type: there is no event "${clipText(text, 80)}".${near === undefined ? '' : ` Did you mean ${near}?`}`,
    hint: `There are ${types.join(', ')}.`,
  })
}
