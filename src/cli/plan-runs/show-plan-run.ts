/** What `caisson show` says of a run of a plan: what is done, pending and in doubt, what it cost, and what can be done. */
import { clipText, escapeText } from '../../base/escape-text.ts'
import type { OpenRequest } from '../../graph/run/decisions.ts'
import type { OpenDoubt } from '../../graph/run/doubts.ts'
import { ENDED } from '../../graph/run/transitions.ts'
import type { PlanOutcome } from '../../runtime/plans/plan-run.ts'
import type { NodeView, RunView } from '../../runtime/plans/run-view.ts'
import { toTaggedJson } from '../../values/tagged-json.ts'
import type { CliIo, CliOutput } from '../cli-io.ts'
import type { GivenFlags } from '../command.ts'
import { EXIT, type ExitCode } from '../exit-code.ts'
import { TENANT } from '../kept/run-place.ts'
import { jsonText } from '../render/json-text.ts'
import { shownText } from '../render/shown-text.ts'
import { styleFor } from '../render/style.ts'
import { textWidth } from '../render/text-width.ts'
import { hangText } from '../render/wrap-text.ts'
import { showDuration } from '../units/parse-duration.ts'
import { showAgo } from '../units/show-age.ts'
import { budgetTexts, usedTexts } from './budget-text.ts'
import { cutText, erasedText } from './erased-text.ts'
import { doubtJson, requestJson } from './event-json.ts'
import { failureWords } from './event-words.ts'
import { type NextCommand, nextCommands } from './next-commands.ts'
import { nextLines } from './next-lines.ts'
import { inPlanSession } from './plan-session.ts'
import { type Proposal, proposalJson, proposalText, readProposed } from './proposal-lines.ts'
import { doubtLines, type RequestSetting, requestLines, valueField } from './request-lines.ts'
import { standsStill, treeText } from './run-frame.ts'
import { visitNodeViews } from './visit-node-views.ts'

const LABEL = 11
const MOST_ROWS = 400
const MOST_LINES = 2_000
const MOST_OUTPUT_LINES = 40
const LONGEST_OUTPUT_LINE = 2_000

interface Shown {
  readonly view: RunView
  readonly requests: readonly OpenRequest[]
  readonly doubts: readonly OpenDoubt[]
  readonly next: readonly NextCommand[]
  readonly storeName: string
  /** Where it has not begun. */
  readonly proposal: Proposal | undefined
  /** Of a run that completed. */
  readonly outcome: PlanOutcome | undefined
}

/** @returns the exit code. @throws CliError */
export async function showPlanRun(given: GivenFlags, io: CliIo): Promise<ExitCode> {
  const [name = ''] = given.positionals
  return inPlanSession(given, io, { command: 'show', run: name, tools: false }, async (session) => {
    const run = await session.runtime.planRun(name, { domain: TENANT })
    const view = await run.view()
    const requests = await run.requests()
    const doubts = await run.doubts()
    const { storeName } = session
    const hasBegun = view.status !== 'proposed' && view.status !== 'approved'
    const shown: Shown = {
      proposal: hasBegun ? undefined : await readProposed(run),
      outcome: view.status === 'completed' && view.erased === undefined ? await run.outcome() : undefined,
      view,
      requests,
      doubts,
      storeName,
      next: nextCommands({ view, plan: run.plan, requests, doubts }, storeName, given),
    }
    if (given.has('json')) io.stdout.write(`${jsonText(documentOf(shown))}\n`)
    else {
      const lines = linesOf(shown, io.stdout)
      io.stdout.write(lines.map((line) => `${line.trimEnd()}\n`).join(''))
    }
    return EXIT.done
  })
}

/** One name for one thing: `digest` is what `--digest` takes, and `doubts` has all that there is of calls in doubt. */
function documentOf({ view, requests, doubts, next, storeName, proposal, outcome }: Shown): unknown {
  const { request, inDoubt: _inDoubts, ...rest } = view
  return {
    digest: request,
    ...rest,
    store: storeName,
    ...(proposal && proposalJson(proposal)),
    ...(outcome?.status === 'completed' && { output: toTaggedJson(outcome.output) }),
    requests: requests.map(requestJson),
    doubts: doubts.map(doubtJson),
    next: next.map(({ command }) => command),
  }
}

function linesOf(
  { view, requests, doubts, next, storeName, proposal, outcome }: Shown,
  output: CliOutput,
): readonly string[] {
  const style = styleFor(output)
  const width = textWidth(output)
  const nowMs = Date.now()
  const { plan, status, frozen, failure, reason, left, used, budget, more, startedAtMs, changedAtMs } = view
  const fact = (label: string, text: string | undefined): readonly string[] => {
    if (text === undefined || text === '') return []
    const first = label.padEnd(LABEL)
    return hangText(first, text, width).map((line) => style.dim(line.slice(0, LABEL)) + line.slice(LABEL))
  }
  const ended: ReadonlySet<string> = ENDED
  const isOver = ended.has(status)
  const wallMs = startedAtMs === undefined ? 0 : Math.max(0, (isOver ? changedAtMs : nowMs) - startedAtMs)
  const setting = { width, style, nowMs, mostLines: MOST_LINES, whole: '--json' }
  const isStill = standsStill(view)
  const answers = [
    ...requests.flatMap((request) => ['', ...requestLines(request, setting)]),
    ...doubts.flatMap((doubt) => ['', ...doubtLines(doubt, setting)]),
  ]
  return [
    style.bold(`run ${view.run} in ${escapeText(storeName)}`),
    ...fact('status', `${status}, ${showAgo(nowMs - changedAtMs)}`),
    ...fact('', frozen && shownText(frozen.message)),
    ...fact(
      '',
      failure && `${failure.node === '' ? '' : `${shownText(failure.node)}: `}${failureWords(failure.error)}`,
    ),
    ...fact('', reason === undefined ? undefined : shownText(reason)),
    ...fact('not undone', left.map((one) => shownText(one)).join(', ')),
    ...fact('plan', `${shownText(plan.name)} ${shownText(plan.version)}, ${plan.digest}`),
    ...fact('proposed', `by ${shownText(view.proposedBy)}, ${showAgo(nowMs - view.proposedAtMs)}`),
    ...fact('approved', view.approvedBy === undefined ? undefined : `by ${shownText(view.approvedBy)}`),
    ...fact('digest', status === 'proposed' ? view.request : undefined),
    ...fact('cut', view.cut && cutText(view.cut)),
    ...fact('erased', view.erased && erasedText(view.erased)),
    ...fact('time', startedAtMs === undefined ? undefined : `${showDuration(wallMs)} from its start`),
    ...fact('used', usedTexts(used).join(', ')),
    ...fact('left', isOver ? undefined : budgetTexts(budget, { ...used, wallMs }, more).join(', ')),
    ...(proposal === undefined
      ? [
          ...fact('nodes', countsText(view.nodes, isStill)),
          '',
          ...treeText(view.nodes, MOST_ROWS, { width, style, nowMs: isOver ? changedAtMs : nowMs, isStill }),
        ]
      : ['', ...proposalText(proposal, output).trimEnd().split('\n')]),
    ...outputLines(outcome, setting),
    ...answers,
    ...(isOver
      ? []
      : [
          '',
          ...fact('point', status === 'proposed' ? undefined : `${view.point}, after ${view.events} events`),
        ]),
    ...nextLines(next, width),
  ]
}

/** Shortened: `--json` has all of it. */
function outputLines(outcome: PlanOutcome | undefined, setting: RequestSetting): readonly string[] {
  if (outcome?.status !== 'completed' || outcome.output === undefined || outcome.output === null) return []
  const lines = valueField('output', outcome.output, { ...setting, mostLines: MOST_OUTPUT_LINES })
  return ['', ...lines.map((line) => clipText(line, LONGEST_OUTPUT_LINE).slice(4))]
}

function countsText(nodes: readonly NodeView[], isStill: boolean): string {
  const counts = new Map<string, number>()
  visitNodeViews(nodes, ({ status }) => {
    const shown = isStill && status === 'running' ? 'standing still' : status
    counts.set(shown, (counts.get(shown) ?? 0) + 1)
  })
  return [...counts].map(([status, count]) => `${count} ${status}`).join(', ')
}
