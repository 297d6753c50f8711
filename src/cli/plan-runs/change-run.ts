/**
 * What people say to a run of a plan: `plan approve`, `reject`, `withdraw`, `send`. It is recorded, and nothing goes on
 * by it here.
 *
 * Invariants
 * 1. Nothing is decided without the digest of exactly what it is about: of several requests, of all of them together.
 */
import type { Digest } from '../../base/digest.ts'
import { clipText } from '../../base/escape-text.ts'
import { aggregateOf } from '../../capability/aggregate.ts'
import type { Decision, OpenRequest } from '../../graph/run/decisions.ts'
import type { PlanRun } from '../../runtime/plans/plan-run.ts'
import { digestValue } from '../../values/digest-value.ts'
import { CliError } from '../cli-error.ts'
import type { CliIo } from '../cli-io.ts'
import type { GivenFlags } from '../command.ts'
import { EXIT } from '../exit-code.ts'
import { TENANT } from '../kept/run-place.ts'
import { jsonText } from '../render/json-text.ts'
import { shellQuote } from '../render/shell-quote.ts'
import { shownText } from '../render/shown-text.ts'
import { styleFor } from '../render/style.ts'
import { textWidth } from '../render/text-width.ts'
import { hangText } from '../render/wrap-text.ts'
import { readInput } from '../run/read-input.ts'
import { isDigest } from '../units/is-digest.ts'
import { requestJson } from './event-json.ts'
import { nextCommands } from './next-commands.ts'
import { nextLines } from './next-lines.ts'
import { planCommand } from './plan-command.ts'
import { inPlanSession, type PlanSession } from './plan-session.ts'
import { requestLines } from './request-lines.ts'
import { readBy } from './who.ts'

const MOST_LINES = 2_000

/** @returns the exit code. @throws CliError */
export function approveRun(given: GivenFlags, io: CliIo): Promise<number> {
  return changed(given, io, 'plan approve', async (run, session) => {
    const by = readBy(given)
    const comment = given.value('comment')
    const said = comment === undefined ? {} : { comment }
    const named = given.values('request')
    if (named.length === 0) {
      if (given.has('value')) throw usage('approve', '--value goes with --request DIGEST.')
      await run.approve({ by, digest: oneDigest(given, run), ...said })
      return true
    }
    const value = given.has('value') ? { value: await readInput(given.value('value'), io, '--value') } : {}
    if (given.has('value') && (named.length > 1 || named[0] === 'all'))
      throw usage('approve', '--value is for one --request: decide over each by its digest.')
    const requests = await wanted(run, session, 'approve')
    if (requests === undefined) return false
    await run.decide(
      requests.map((request): Decision => ({ request, by, decision: 'approve', ...said, ...value })),
    )
    return true
  })
}

/** @returns the exit code. @throws CliError */
export function rejectRun(given: GivenFlags, io: CliIo): Promise<number> {
  return changed(given, io, 'plan reject', async (run, session) => {
    const by = readBy(given)
    const reason = given.value('reason')
    if (reason === undefined) throw usage('reject', 'Say why: --reason TEXT.')
    if (given.values('request').length === 0) {
      await run.reject({ by, reason })
      return true
    }
    const requests = await wanted(run, session, 'reject')
    if (requests === undefined) return false
    const comment = given.value('comment')
    const said = comment === undefined ? {} : { comment }
    await run.decide(
      requests.map((request): Decision => ({ request, by, decision: 'reject', reason, ...said })),
    )
    return true
  })
}

/** @returns the exit code. @throws CliError */
export function withdrawDecision(given: GivenFlags, io: CliIo): Promise<number> {
  return changed(given, io, 'plan withdraw', async (run) => {
    const by = readBy(given)
    const requests = given.values('request').map((text) => digestOf(text, 'withdraw'))
    if (requests.length === 0) throw usage('withdraw', 'Say which decision is taken back: --request DIGEST.')
    await run.decide(requests.map((request): Decision => ({ request, by, decision: 'withdraw' })))
    return true
  })
}

/** @returns the exit code. @throws CliError */
export function sendEvent(given: GivenFlags, io: CliIo): Promise<number> {
  return changed(given, io, 'plan send', async (run) => {
    const [, event = ''] = given.positionals
    const value = (await readInput(given.value('value'), io, '--value')) ?? null
    await run.send(event, value, { by: readBy(given) })
    return true
  })
}

/** @param change false where nothing was changed, as there was no digest: then all that there is was shown */
async function changed(
  given: GivenFlags,
  io: CliIo,
  command: string,
  change: (run: PlanRun, session: PlanSession) => Promise<boolean>,
): Promise<number> {
  const [name = ''] = given.positionals
  return inPlanSession(given, io, { command, run: name, tools: false }, async (session) => {
    const run = await session.runtime.planRun(name, { domain: TENANT })
    if (!(await change(run, session))) return EXIT.waiting
    await tellStanding(run, session)
    return EXIT.done
  })
}

async function tellStanding(run: PlanRun, { given, io, storeName }: PlanSession): Promise<void> {
  const view = await run.view()
  const { status } = view
  const requests = status === 'waiting' ? await run.requests() : []
  const doubts = status === 'frozen' || status === 'interrupted' ? await run.doubts() : []
  const next = nextCommands({ view, plan: run.plan, requests, doubts }, storeName, given)
  if (given.has('json')) {
    const open = requests.filter(({ decided }) => decided === undefined).length
    const document = {
      status,
      run: run.run,
      store: storeName,
      open,
      next: next.map(({ command }) => command),
    }
    io.stdout.write(`${jsonText(document)}\n`)
    return
  }
  const lines = [`recorded: run ${run.run} is ${status}`, ...nextLines(next, io.stderr.columns - 1)]
  io.stderr.write(lines.map((line) => `${line}\n`).join(''))
}

/** The digest of what was proposed, as whoever approves saw it. */
function oneDigest(given: GivenFlags, { run }: PlanRun): Digest {
  const text = given.value('digest')
  if (text !== undefined) return digestOf(text, 'approve')
  throw usage(
    'approve',
    'Say what you approve: --digest DIGEST for what was proposed, --request DIGEST for what a node asks.',
    `caisson show ${run} --store ${shellQuote(given.value('store') ?? 'DIR')} shows it, and its digest.`,
  )
}

/** What is decided over requests. */
type Doing = 'approve' | 'reject'

/** The requests that are decided over; undefined where they were shown instead. */
async function wanted(
  run: PlanRun,
  session: PlanSession,
  doing: Doing,
): Promise<readonly Digest[] | undefined> {
  const { given } = session
  const named = given.values('request')
  if (!named.includes('all')) return named.map((text) => digestOf(text, doing))
  if (named.length > 1) throw usage(doing, '--request all stands alone: leave the other --request out.')
  const open = (await run.requests()).filter(({ decided }) => decided === undefined)
  const digest = digestOfAll(open)
  if (given.value('digest') === digest && open.length > 0) return open.map((request) => request.digest)
  if (given.has('digest')) {
    throw new CliError({
      exit: EXIT.denied,
      code: 'approval_mismatch',
      message: 'What is asked is not what was shown: more was asked, or some of it was decided.',
      hint: 'Look again: leave --digest out.',
    })
  }
  tellAll(run, open, digest, session, doing)
  return undefined
}

/** Of all requests that are open, in whatever order: more or other ones have another digest. */
function digestOfAll(open: readonly OpenRequest[]): Digest {
  return digestValue({ requests: open.map(({ digest }) => digest).toSorted() })
}

function tellAll(
  run: PlanRun,
  open: readonly OpenRequest[],
  digest: Digest,
  { given, io, storeName }: PlanSession,
  doing: Doing,
): void {
  const reason = doing === 'reject' ? ['--reason', given.value('reason') ?? 'WHY'] : []
  const command = planCommand(`plan ${doing}`, [run.run], storeName, given, {
    more: ['--request', 'all', '--digest', digest, ...reason],
  })
  if (given.has('json')) {
    const requests = open.map(requestJson)
    const document = {
      status: 'waiting',
      run: run.run,
      store: storeName,
      requests,
      aggregate: aggregateOf(open),
      digest,
      next: [command],
    }
    io.stdout.write(`${jsonText(document)}\n`)
    return
  }
  const { stdout } = io
  const width = textWidth(stdout)
  const setting = { width, style: styleFor(stdout), nowMs: Date.now(), mostLines: MOST_LINES }
  const lines = [
    ...open.flatMap((request) => requestLines(request, setting)),
    ...hangText('together: ', sumsOf(open).join(', '), width),
    ...(open.length === 0
      ? []
      : nextLines([{ text: `${doing} all of it, and nothing else`, command }], width)),
  ]
  stdout.write(lines.map((line) => `${line}\n`).join(''))
}

/** What all of them come to: `3 calls of reports.publish`, `12 cents`. */
function sumsOf(open: readonly OpenRequest[]): readonly string[] {
  const { requests, actions, effects, cost, withoutCost } = aggregateOf(open)
  const shown = (text: string): string => shownText(text, 100)
  return [
    requests === 1 ? '1 request' : `${requests} requests`,
    ...Object.entries(actions).map(
      ([action, count]) => `${count} ${count === 1 ? 'call' : 'calls'} of ${shown(action)}`,
    ),
    ...Object.entries(effects).map(([effect, count]) => `${count} with the effect ${shown(effect)}`),
    ...Object.entries(cost).map(([unit, amount]) => `${amount} ${shown(unit)}`),
    ...(withoutCost === 0 ? [] : [`${withoutCost} of which nothing says what they cost`]),
  ]
}

function digestOf(text: string, command: string): Digest {
  if (isDigest(text)) return text
  throw usage(command, `"${clipText(text, 80)}" is no digest: sha256: and 64 hexadecimal digits.`)
}

function usage(command: string, message: string, hint = `caisson plan ${command} --help`): CliError {
  return new CliError({ exit: EXIT.usage, code: 'usage', message, hint })
}
