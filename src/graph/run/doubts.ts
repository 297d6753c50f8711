/**
 * What people say of calls of which nobody knows whether they took effect: as events, which are checked before they are
 * recorded.
 *
 * Invariants
 * 1. An answer is for one call in doubt, and no other; what was said of it is said once.
 * 2. A node goes on when all of its calls are settled.
 */
import { CaissonError } from '../../base/errors.ts'
import { checkName } from './check-text.ts'
import type { NodeState } from './node-state.ts'
import type { CallAnswer, NodeEvent, RunEvent } from './run-event.ts'
import type { RunState } from './run-state.ts'
import type { RunValues } from './run-values.ts'

/** What somebody says of a call in doubt. */
export type DoubtAnswer = {
  readonly node: string
  readonly by: string
  /** Of a program: the number of the call in it. Needed where several are in doubt. */
  readonly call?: number
} & (
  | { readonly happened: true; readonly value: unknown }
  /** It did not happen, and is made again. */
  | { readonly happened: false }
  /** The node is left as it is, and what waits for it is skipped too. */
  | { readonly skip: true }
)

/** A call of which nobody knows whether it took effect. */
export interface OpenDoubt {
  readonly node: string
  readonly call: number
  readonly capability: string
  readonly args: unknown
  /** Somebody said what became of it. */
  readonly settled: boolean
}

/**
 * The events of what somebody says of calls in doubt. A node goes on when all of its calls are settled.
 * @throws CaissonError `invalid_argument`, `unknown_call`, `invalid_transition`, and what keeping a value throws
 */
export async function answerEvents(
  state: RunState,
  values: RunValues,
  answers: readonly DoubtAnswer[],
): Promise<readonly RunEvent[]> {
  const events: RunEvent[] = []
  const settled = new Map<NodeState, Set<number>>()
  for (const answer of answers) {
    if (typeof answer !== 'object' || answer === null) throw badAnswer()
    const node = frozenNode(state, answer.node)
    checkName('by', answer.by)
    const settledNow = settled.get(node) ?? new Set()
    settled.set(node, settledNow)
    const call = callInDoubt(node, answer, settledNow)
    settledNow.add(call)
    events.push(...(await eventsOfAnswer(values, node, call, answer, settledNow)))
  }
  return events
}

function frozenNode(state: RunState, path: string): NodeState {
  const node = typeof path === 'string' ? state.node(path) : undefined
  if (node?.status === 'frozen') return node
  throw new CaissonError('unknown_call', `No call of node "${String(path).slice(0, 200)}" is in doubt.`, {
    details: { node: String(path).slice(0, 200) },
  })
}

/** Calls in doubt that nobody has said anything of. */
function openCalls(node: NodeState, settledNow: ReadonlySet<number>): readonly number[] {
  const calls =
    node.doubts.size > 0
      ? [...node.doubts.values()].filter(({ settled }) => !settled).map(({ call }) => call)
      : node.call !== undefined && node.call.answer === undefined
        ? [node.call.id]
        : []
  return calls.filter((call) => !settledNow.has(call))
}

function callInDoubt(node: NodeState, { call }: DoubtAnswer, settledNow: ReadonlySet<number>): number {
  const open = openCalls(node, settledNow)
  const [only] = open
  const wanted = call ?? (open.length === 1 ? only : undefined)
  if (wanted !== undefined && open.includes(wanted)) return wanted
  const which = open.length === 0 ? 'none is' : `${open.join(', ')} ${open.length === 1 ? 'is' : 'are'}`
  throw new CaissonError(
    'unknown_call',
    call === undefined
      ? `Say which call of node "${node.path}" the answer is for: ${which} in doubt.`
      : `Call ${call} of node "${node.path}" is not in doubt: ${which}.`,
    { details: { node: node.path } },
  )
}

async function eventsOfAnswer(
  values: RunValues,
  node: NodeState,
  call: number,
  answer: DoubtAnswer,
  settledNow: ReadonlySet<number>,
): Promise<readonly NodeEvent[]> {
  const { path } = node
  const { by } = answer
  if ('skip' in answer) {
    if (answer.skip !== true) throw badAnswer()
    return [{ node: path, type: 'node_skipped', reason: 'decided', by }]
  }
  if (typeof answer.happened !== 'boolean') throw badAnswer()
  const isProgram = node.doubts.size > 0
  const ended: CallAnswer | undefined = answer.happened
    ? { ok: true, value: await values.keep(answer.value) }
    : undefined
  const events: NodeEvent[] = []
  if (ended !== undefined || isProgram)
    events.push({ node: path, type: 'node_answered', call, ...(ended && { answer: ended }), by })
  if (openCalls(node, settledNow).length === 0)
    events.push({ node: path, type: 'node_thawed', again: ended === undefined && !isProgram, by })
  return events
}

function badAnswer(): CaissonError {
  return new CaissonError(
    'invalid_argument',
    'An answer says { happened: true, value }, { happened: false } or { skip: true }.',
  )
}

/** Every call in doubt that somebody has to say something of. @throws CaissonError `not_found`, `store_failed`, `corrupted` */
export async function doubtsOf(state: RunState, values: RunValues): Promise<readonly OpenDoubt[]> {
  const open: OpenDoubt[] = []
  for (const { path, status, doubts, call, node, input } of state.live.values()) {
    if (status !== 'frozen') continue
    for (const { call: id, capability, args, settled } of doubts.values())
      open.push({ node: path, call: id, capability, args: await values.load(args), settled })
    if (doubts.size > 0 || call === undefined || node.kind !== 'call') continue
    const args = input === undefined ? undefined : await values.load(input)
    open.push({
      node: path,
      call: call.id,
      capability: node.capability,
      args,
      settled: call.answer !== undefined,
    })
  }
  return open
}
