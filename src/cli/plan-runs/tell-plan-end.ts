/** How a run of a plan came to rest: its output on stdout, everything else on stderr, and the exit code. */
import { escapeText } from '../../base/escape-text.ts'
import type { OpenRequest } from '../../graph/run/decisions.ts'
import type { OpenDoubt } from '../../graph/run/doubts.ts'
import type { Failure } from '../../graph/run/run-event.ts'
import type { PlanOutcome, PlanRun } from '../../runtime/plans/plan-run.ts'
import { toTaggedJson } from '../../values/tagged-json.ts'
import type { CliOutput } from '../cli-io.ts'
import { EXIT, type ExitCode } from '../exit-code.ts'
import { jsonText } from '../render/json-text.ts'
import { showValue } from '../render/show-value.ts'
import { shownText } from '../render/shown-text.ts'
import { type Style, styleFor } from '../render/style.ts'
import { hangText } from '../render/wrap-text.ts'
import { showDuration } from '../units/parse-duration.ts'
import { usedTexts } from './budget-text.ts'
import { doubtJson, requestJson } from './event-json.ts'
import { type NextCommand, nextCommands } from './next-commands.ts'
import { nextLines } from './next-lines.ts'
import type { PlanSession } from './plan-session.ts'
import { doubtLines, type RequestSetting, requestLines } from './request-lines.ts'
import { someOf } from './some-of.ts'

const MOST_REQUESTS = 5
const MOST_LINES = 12
const MOST_LEFT = 20

/** @param asked what the command was to do: a run that is cancelled did what `cancel` says */
export async function tellPlanEnd(
  run: PlanRun,
  outcome: PlanOutcome,
  asked: 'go on' | 'cancel',
  interrupted: boolean,
  { io, given, storeName, failures }: PlanSession,
): Promise<ExitCode> {
  const { stdout, stderr } = io
  const view = await run.view()
  const requests = outcome.status === 'waiting' ? await run.requests() : []
  const doubts = outcome.status === 'frozen' || outcome.status === 'interrupted' ? await run.doubts() : []
  const next = nextCommands({ view, plan: run.plan, requests, doubts }, storeName, given)
  const style = styleFor(stderr)
  stderr.write(failures.text(style))
  if (given.has('json'))
    stdout.write(`${jsonText(endDocument(outcome, storeName, requests, doubts, next))}\n`)
  else if (outcome.status === 'completed' && outcome.output !== undefined && outcome.output !== null) {
    const text = showValue(outcome.output, stdout.columns)
    stdout.write(text.endsWith('\n') ? text : `${text}\n`)
  }
  stderr.write(endText(outcome, { requests, doubts, next, interrupted }, stderr))
  const left = interrupted && (outcome.status === 'interrupted' || outcome.status === 'frozen')
  return left ? EXIT.interrupted : exitOfPlan(outcome, asked)
}

/** What the run came to, as an exit code. */
function exitOfPlan(outcome: PlanOutcome, asked: 'go on' | 'cancel'): ExitCode {
  switch (outcome.status) {
    case 'completed':
      return EXIT.done
    case 'cancelled':
      return asked === 'cancel' ? EXIT.done : EXIT.denied
    case 'compensated':
      if (outcome.left.length > 0) return EXIT.failed
      if (outcome.error !== undefined) return exitOfFailure(outcome.error)
      return asked === 'cancel' ? EXIT.done : EXIT.denied
    case 'failed':
      return exitOfFailure(outcome.error)
    case 'rejected':
      return EXIT.denied
    case 'frozen':
      return outcome.reason === 'budget' ? EXIT.exhausted : EXIT.waiting
    default:
      return EXIT.waiting
  }
}

function exitOfFailure({ class: kind, code }: Failure): ExitCode {
  if (code === 'budget_exhausted') return EXIT.exhausted
  return kind === 'denied' || code === 'approval_rejected' ? EXIT.denied : EXIT.failed
}

interface EndFacts {
  readonly requests: readonly OpenRequest[]
  readonly doubts: readonly OpenDoubt[]
  readonly next: readonly NextCommand[]
  readonly interrupted: boolean
}

function endText(outcome: PlanOutcome, facts: EndFacts, output: CliOutput): string {
  const style = styleFor(output)
  const width = Math.max(30, output.columns - 1)
  const setting: RequestSetting = { width, style, nowMs: Date.now(), mostLines: MOST_LINES }
  const { requests, doubts, next, interrupted } = facts
  const lines = [
    ...headLines(outcome, interrupted, width, style),
    ...requests.slice(0, MOST_REQUESTS).flatMap((request) => requestLines(request, setting)),
    ...(requests.length > MOST_REQUESTS ? [`... ${requests.length - MOST_REQUESTS} more requests`] : []),
    ...doubts.flatMap((doubt) => doubtLines(doubt, setting)),
    ...nextLines(next, width),
  ]
  if (output.isTerminal) {
    const used = usedTexts(outcome.used)
    lines.push(...hangText('', [outcome.status, ...used].join(' · '), width).map(style.dim))
  }
  return lines.map((line) => `${line}\n`).join('')
}

function headLines(
  outcome: PlanOutcome,
  interrupted: boolean,
  width: number,
  style: Style,
): readonly string[] {
  const line = (label: string, text: string, paint: (text: string) => string): readonly string[] => {
    const [first = '', ...others] = hangText(`${label} `, text, width)
    return [paint(label) + first.slice(label.length), ...others]
  }
  switch (outcome.status) {
    case 'completed':
      return []
    case 'failed':
      return line('failed:', `${named(outcome.node, outcome.error)}${failureText(outcome.error)}`, style.red)
    case 'compensated': {
      const why = outcome.error === undefined ? '' : `${failureText(outcome.error)}; `
      return outcome.left.length === 0
        ? line('undone:', `${why}all that was done is undone`, style.yellow)
        : line(
            'undone:',
            `${why}but for ${someOf(
              outcome.left.map((path) => escapeText(path)),
              MOST_LEFT,
            )}`,
            style.red,
          )
    }
    case 'cancelled':
      return line('cancelled:', 'nothing was to be undone', style.yellow)
    case 'rejected':
      return line('rejected:', shownText(outcome.reason), style.red)
    case 'frozen':
      return line('frozen:', shownText(outcome.message), style.yellow)
    case 'interrupted':
      return line(
        'interrupted:',
        interrupted
          ? 'the run was brought to rest, and can be gone on with'
          : 'whoever drove the run stopped',
        style.yellow,
      )
    case 'waiting': {
      const { requests, untilMs } = outcome
      const people =
        requests === 0 ? '' : `for a person, ${requests} ${requests === 1 ? 'request' : 'requests'}`
      const time =
        untilMs === undefined ? '' : `for a time, in ${showDuration(Math.max(0, untilMs - Date.now()))}`
      const all = [people, time].filter((text) => text !== '').join(', and ')
      return line(
        'waiting:',
        all === '' ? 'for an event from outside (caisson plan send)' : all,
        style.yellow,
      )
    }
    default:
      return [`${outcome.status}: nothing has begun`]
  }
}

/** The message of a node that failed the run mostly begins with its name. */
function named(node: string, { message }: Failure): string {
  return node === '' || message.startsWith(`${node}: `) ? '' : `${escapeText(node)}: `
}

function failureText({ code, message }: Failure): string {
  return `${shownText(message)} (${shownText(code, 100)})`
}

function endDocument(
  outcome: PlanOutcome,
  storeName: string,
  requests: readonly OpenRequest[],
  doubts: readonly OpenDoubt[],
  next: readonly NextCommand[],
): unknown {
  const output = outcome.status === 'completed' ? { output: toTaggedJson(outcome.output) } : {}
  return {
    ...outcome,
    ...output,
    store: storeName,
    ...(outcome.status === 'waiting' && { requests: requests.map(requestJson) }),
    ...(doubts.length > 0 && { doubts: doubts.map(doubtJson) }),
    next: next.map(({ command }) => command),
  }
}
