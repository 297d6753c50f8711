/** What can be done with a run of a plan as it stands: in words, each with the command line that does it. */
import type { Plan } from '../../graph/plan/plan.ts'
import type { OpenRequest } from '../../graph/run/decisions.ts'
import type { OpenDoubt } from '../../graph/run/doubts.ts'
import type { NodeView, RunView } from '../../runtime/plans/run-view.ts'
import type { GivenFlags } from '../command.ts'
import { planCommand } from './plan-command.ts'
import { visitNodeViews } from './visit-node-views.ts'

export interface NextCommand {
  readonly text: string
  readonly command: string
}

export interface Standing {
  readonly view: Pick<RunView, 'run' | 'status' | 'request' | 'point' | 'frozen' | 'nodes'>
  readonly plan: Plan
  readonly requests: readonly OpenRequest[]
  readonly doubts: readonly OpenDoubt[]
}

/** The most useful first; none for a run that has ended. */
export function nextCommands(
  { view, plan, requests, doubts }: Standing,
  storeName: string,
  given: GivenFlags,
): readonly NextCommand[] {
  const { run, status, request, point, frozen } = view
  const line = (
    command: string,
    more: readonly string[],
    tools = false,
    words: readonly string[] = [],
  ): string =>
    planCommand(command, [run, ...words], storeName, given, { more, tools: tools ? plan : undefined })
  switch (status) {
    case 'proposed':
      return [
        { text: 'approve exactly this', command: line('plan approve', ['--digest', request]) },
        { text: 'or reject it', command: line('plan reject', ['--reason', 'WHY']) },
      ]
    case 'approved':
      return [{ text: 'start it', command: line('plan start', [], true) }]
    case 'frozen':
    case 'interrupted': {
      const answers = doubts
        .filter(({ settled }) => !settled)
        .flatMap(({ node }) => ['--answer', `${node}=JSON`])
      const more = frozen?.reason === 'budget' ? moreFlags(frozen.part) : []
      return [
        {
          text:
            answers.length > 0
              ? 'say what became of the calls in doubt (NODE=JSON: its result; NODE=again: it did not happen; NODE=skip), and go on from exactly here'
              : more.length > 0
                ? 'allow more of what is used up, and go on from exactly here'
                : 'go on from exactly here',
          command: line('resume', ['--confirm', point, ...answers, ...more], true),
        },
      ]
    }
    case 'waiting':
      return waitingCommands(requests, eventOf(view.nodes), line)
    default:
      return []
  }
}

const MORE_FLAGS: ReadonlyMap<string, readonly string[]> = new Map([
  ['fuel', ['--add-fuel', 'N']],
  ['calls', ['--add-calls', 'N']],
  ['steps', ['--add-steps', 'N']],
  ['activeMs', ['--add-active', '5m']],
  ['wallMs', ['--add-wall', '1h']],
  ['bytes', ['--add-bytes', '1MiB']],
])

/** What allows more of a part of a budget, or of a unit of it. */
function moreFlags(part = 'fuel'): readonly string[] {
  return MORE_FLAGS.get(part) ?? ['--add-unit', `${part}=N`]
}

/** An event that a node waits for. */
function eventOf(nodes: readonly NodeView[]): string | undefined {
  let found: string | undefined
  visitNodeViews(nodes, ({ event }) => {
    found ??= event
  })
  return found
}

/** What may be said along with an approval. */
function moreOf({ kind }: OpenRequest): string {
  return kind !== 'question'
    ? ' (--comment TEXT says why)'
    : ' (--comment TEXT says why, --value JSON puts something else in place of what is shown)'
}

function waitingCommands(
  requests: readonly OpenRequest[],
  event: string | undefined,
  line: (command: string, more: readonly string[], tools?: boolean, words?: readonly string[]) => string,
): readonly NextCommand[] {
  const goOn = { text: 'then go on', command: line('resume', [], true) }
  const open = requests.filter(({ decided }) => decided === undefined)
  const [first] = open
  if (first === undefined) {
    if (requests.length > 0 || event === undefined) return [{ ...goOn, text: 'go on' }]
    return [
      { text: 'when it happened, say so', command: line('plan send', ['--value', 'JSON'], false, [event]) },
      goOn,
    ]
  }
  const value = first.kind === 'value' ? ['--value', 'JSON'] : []
  const several =
    open.length > 1
      ? [{ text: 'or look at all of them together', command: line('plan approve', ['--request', 'all']) }]
      : []
  return [
    {
      text: `approve it${moreOf(first)}`,
      command: line('plan approve', ['--request', first.digest, ...value]),
    },
    { text: 'or reject it', command: line('plan reject', ['--request', first.digest, '--reason', 'WHY']) },
    ...several,
    goOn,
  ]
}
