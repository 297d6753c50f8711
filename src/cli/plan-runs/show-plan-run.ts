/** What `caisson show` says of a run of a plan: what is done, pending and in doubt, what it cost, and what can be done. */
import { escapeText } from '../../base/escape-text.ts'
import type { OpenRequest } from '../../graph/run/decisions.ts'
import type { OpenDoubt } from '../../graph/run/doubts.ts'
import { ENDED } from '../../graph/run/transitions.ts'
import type { NodeView, RunView } from '../../runtime/plans/run-view.ts'
import { toTaggedJson } from '../../values/tagged-json.ts'
import type { CliIo } from '../cli-io.ts'
import type { GivenFlags } from '../command.ts'
import { EXIT, type ExitCode } from '../exit-code.ts'
import { TENANT } from '../kept/run-place.ts'
import { jsonText } from '../render/json-text.ts'
import { shownText } from '../render/shown-text.ts'
import { type Style, styleFor } from '../render/style.ts'
import { textWidth } from '../render/text-width.ts'
import { hangText } from '../render/wrap-text.ts'
import { showDuration } from '../units/parse-duration.ts'
import { showAgo } from '../units/show-age.ts'
import { budgetTexts, usedTexts } from './budget-text.ts'
import { failureWords } from './event-words.ts'
import { type NextCommand, nextCommands } from './next-commands.ts'
import { nextLines } from './next-lines.ts'
import { inPlanSession } from './plan-session.ts'
import { doubtLines, requestLines } from './request-lines.ts'
import { treeText } from './run-frame.ts'
import { visitNodeViews } from './visit-node-views.ts'

const LABEL = 11
const MOST_ROWS = 400
const MOST_LINES = 2_000

interface Shown {
  readonly view: RunView
  readonly requests: readonly OpenRequest[]
  readonly doubts: readonly OpenDoubt[]
  readonly next: readonly NextCommand[]
  readonly storeName: string
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
    const shown = {
      view,
      requests,
      doubts,
      storeName,
      next: nextCommands({ view, plan: run.plan, requests, doubts }, storeName, given),
    }
    if (given.has('json')) io.stdout.write(`${jsonText(documentOf(shown))}\n`)
    else {
      const style = styleFor(io.stdout)
      const width = textWidth(io.stdout)
      const lines = linesOf(shown, width, Date.now(), style)
      io.stdout.write(lines.map((line) => `${line.trimEnd()}\n`).join(''))
    }
    return EXIT.done
  })
}

function documentOf({ view, requests, doubts, next, storeName }: Shown): unknown {
  return {
    ...view,
    store: storeName,
    requests: requests.map((request) => toTaggedJson(request)),
    doubts: doubts.map((doubt) => toTaggedJson(doubt)),
    next: next.map(({ command }) => command),
  }
}

function linesOf(
  { view, requests, doubts, next, storeName }: Shown,
  width: number,
  nowMs: number,
  style: Style,
): readonly string[] {
  const { plan, status, frozen, failure, reason, left, used, budget, more, startedAtMs, changedAtMs } = view
  const fact = (label: string, text: string | undefined): readonly string[] => {
    if (text === undefined || text === '') return []
    const first = label.padEnd(LABEL)
    return hangText(first, text, width).map((line) => style.dim(line.slice(0, LABEL)) + line.slice(LABEL))
  }
  const ended: ReadonlySet<string> = ENDED
  const isOver = ended.has(status)
  const wallMs = startedAtMs === undefined ? 0 : Math.max(0, (isOver ? changedAtMs : nowMs) - startedAtMs)
  const setting = { width, style, nowMs, mostLines: MOST_LINES }
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
    ...fact('time', startedAtMs === undefined ? undefined : `${showDuration(wallMs)} from its start`),
    ...fact('used', usedTexts(used).join(', ')),
    ...fact('left', isOver ? undefined : budgetTexts(budget, { ...used, wallMs }, more).join(', ')),
    ...fact('nodes', countsText(view.nodes)),
    '',
    ...treeText(view.nodes, MOST_ROWS, width, isOver ? changedAtMs : nowMs, style),
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

function countsText(nodes: readonly NodeView[]): string {
  const counts = new Map<string, number>()
  visitNodeViews(nodes, ({ status }) => counts.set(status, (counts.get(status) ?? 0) + 1))
  return [...counts].map(([status, count]) => `${count} ${status}`).join(', ')
}
