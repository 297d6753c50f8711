/** Attempts of nodes, from their beginning to the event that ended them: what receipts and executions are made of. */
import { isGuest } from '../../../graph/plan/node-kinds.ts'
import { UNDO } from '../../../graph/plan/rights-at.ts'
import type { NodeState } from '../../../graph/run/node-state.ts'
import type { GuestWork } from '../../../graph/run/node-work.ts'
import type {
  CallAnswer,
  Failure,
  NodeEvent,
  Ran,
  RecordedEvent,
  ValueRef,
} from '../../../graph/run/run-event.ts'
import type { RunState } from '../../../graph/run/run-state.ts'

export interface MadeCall {
  readonly call: number
  readonly capability: string
  /** Digest of the final arguments. */
  readonly args: string | undefined
  answer: CallAnswer | undefined
}

export interface EndedAttempt {
  /** With `#undo` at its end for what undid the node. */
  readonly path: string
  readonly node: NodeState
  readonly kind: string
  readonly program: GuestWork | undefined
  readonly attempt: number
  /** Of what undoes: evaluated, and not recorded. */
  readonly input: ValueRef | undefined
  readonly calls: readonly MadeCall[]
  readonly startedAtMs: number
  readonly endedAtMs: number
  /** The time in the guest of its program. */
  readonly guestAtMs: number
  readonly position: number
  readonly event: NodeEvent['type']
  readonly ran: Ran | undefined
  readonly fuel: number
  readonly output: ValueRef | undefined
  readonly error: Failure | undefined
}

interface OpenAttempt {
  readonly attempt: number
  readonly input: ValueRef | undefined
  readonly startedAtMs: number
  readonly calls: MadeCall[]
  fuel: number
  ran: Ran | undefined
}

/** A fold beside that of the state. */
export class Attempts {
  readonly #state: RunState
  readonly #open = new Map<string, OpenAttempt>()

  constructor(state: RunState) {
    this.#state = state
  }

  /** @param event was applied to the state. @returns the attempt that it ended */
  note(event: RecordedEvent, position: number): EndedAttempt | undefined {
    if (!('node' in event) || event.type === 'failing') return undefined
    const node = this.#state.node(event.node)
    if (node === undefined) return undefined
    const undoes = UNDOING.has(node.status)
    const path = undoes ? `${node.path}${UNDO}` : node.path
    if (event.type === 'node_started')
      this.#begin(path, { attempt: event.attempt, input: event.input, startedAtMs: event.timeMs })
    if (event.type === 'node_undoing')
      this.#begin(path, { attempt: 1, input: undefined, startedAtMs: event.timeMs })
    const open = this.#open.get(path)
    if (open === undefined) return undefined
    open.fuel += event.used?.fuel ?? 0
    open.ran = event.ran ?? open.ran
    if (event.type === 'node_called')
      open.calls.push({
        call: event.call,
        capability: capabilityOf(node, undoes),
        args: event.args,
        answer: undefined,
      })
    const answered =
      event.type === 'node_answered' ? open.calls.find(({ call }) => call === event.call) : undefined
    if (answered !== undefined && event.type === 'node_answered') answered.answer = event.answer
    if (!ENDING.has(event.type)) return undefined
    this.#open.delete(path)
    return {
      path,
      node,
      kind: undoes ? `undo of ${node.node.kind}` : node.node.kind,
      program: programOf(node, undoes),
      attempt: open.attempt,
      input: open.input,
      calls: open.calls,
      startedAtMs: open.startedAtMs,
      endedAtMs: event.timeMs,
      guestAtMs: node.attemptAtMs ?? 0,
      position,
      event: event.type,
      ran: open.ran,
      fuel: open.fuel,
      output: 'output' in event ? event.output : undefined,
      error: 'error' in event ? event.error : undefined,
    }
  }

  #begin(path: string, begun: Pick<OpenAttempt, 'attempt' | 'input' | 'startedAtMs'>): void {
    this.#open.set(path, { ...begun, calls: [], fuel: 0, ran: undefined })
  }
}

const UNDOING: ReadonlySet<string> = new Set(['compensating', 'compensated', 'uncompensated'])

const ENDING: ReadonlySet<string> = new Set([
  'node_completed',
  'node_failed',
  'node_retrying',
  'node_recovered',
  'node_cancelled',
  'node_skipped',
  'node_undone',
  'node_not_undone',
])

function capabilityOf({ node }: NodeState, undoes: boolean): string {
  const what = undoes && 'compensate' in node ? node.compensate : node
  return what !== undefined && 'capability' in what ? what.capability : ''
}

function programOf({ node }: NodeState, undoes: boolean): EndedAttempt['program'] {
  if (!undoes) return isGuest(node) ? node : undefined
  const compensate = 'compensate' in node ? node.compensate : undefined
  return compensate?.kind === 'program' ? compensate : undefined
}
