/**
 * What a journal shows that somebody should look at, step by step: pure over its events.
 *
 * None of this stops a run. It says where a program, a model or a tool did something else than the plan expects.
 */
import { fingerprint } from '../../capability/fingerprint.ts'
import type { Plan } from '../plan/plan.ts'
import { placeOf } from '../plan/rights-at.ts'
import type { NodeState } from './node-state.ts'
import type { CallAnswer, Failure, RecordedEvent, ValueRef } from './run-event.ts'
import { RunState } from './run-state.ts'

export type FindingKind =
  /** A call was asked for with arguments that its tool does not take. */
  | 'arguments_outside_schema'
  /** A tool gave what it says that it never gives. */
  | 'result_outside_schema'
  /** Something happened that cannot follow where it stands: a call without its intent, an event of a node that is over. */
  | 'out_of_order'
  /** A node was tried so often that it looks like a habit. */
  | 'many_attempts'
  /** A node gave something else than what its call is recorded to have given. */
  | 'output_differs'
  /** Something was refused that the plan does not allow. */
  | 'denied'
  /** It did the same again and again. */
  | 'loop'
  /** A budget or a right was used up. */
  | 'used_up'
  /** Nobody knows whether a call took effect. */
  | 'in_doubt'

export interface Finding {
  readonly kind: FindingKind
  /** Number of the event in the journal, from 0. */
  readonly at: number
  readonly timeMs: number
  /** Path of the node; empty for the run. */
  readonly node: string
  /** One sentence. Quotes tools and guests: escape it where it is shown. */
  readonly message: string
}

/** Attempts of one node from which on they are told. */
const MANY_ATTEMPTS = 3
/** Of one list: who looks for more reads the journal. */
const MOST_FINDINGS = 1_000

const BY_CODE: Readonly<Record<string, FindingKind>> = {
  invalid_arguments: 'arguments_outside_schema',
  invalid_result: 'result_outside_schema',
  denied: 'denied',
  not_granted: 'denied',
  unknown_capability: 'denied',
  revoked: 'denied',
  loop_detected: 'loop',
  budget_exhausted: 'used_up',
  in_doubt: 'in_doubt',
}

/**
 * @param plan that was run
 * @param events of its journal, from the first on
 */
export function findingsOf(plan: Plan, events: readonly RecordedEvent[]): readonly Finding[] {
  const state = new RunState(plan)
  const findings: Finding[] = []
  for (const [at, event] of events.entries()) {
    const node = 'node' in event ? event.node : ''
    const add = (kind: FindingKind, message: string): void => {
      if (findings.length < MOST_FINDINGS) findings.push({ kind, at, timeMs: event.timeMs, node, message })
    }
    const before = node === '' ? undefined : state.node(node)
    const call = before?.call
    try {
      state.apply(event)
    } catch (error) {
      add('out_of_order', (error as Error).message)
      continue
    }
    lookAt(event, before, call, add)
  }
  return findings
}

type Add = (kind: FindingKind, message: string) => void

function lookAt(event: RecordedEvent, node: NodeState | undefined, call: NodeState['call'], add: Add): void {
  switch (event.type) {
    case 'node_answered':
      if (call === undefined || call.id !== event.call)
        add('out_of_order', `Call ${event.call} is answered, and was not let in before.`)
      else if (call.answer !== undefined)
        add('out_of_order', `Call ${event.call} is answered, and had its answer.`)
      return
    case 'node_started':
      if (event.attempt >= MANY_ATTEMPTS)
        add('many_attempts', `"${placeOf(event.node)}" is tried for the ${ordinal(event.attempt)} time.`)
      return
    case 'node_completed':
      if (node?.node.kind === 'call') compare(event.output, call?.answer, add)
      return
    case 'node_failed':
    case 'node_retrying':
    case 'node_recovered':
    case 'node_not_undone':
      failed(event.error, add)
      return
    case 'node_frozen':
    case 'frozen':
      if (event.reason === 'loop_guard' && event.type === 'frozen') add('loop', event.message)
      if (event.reason === 'budget' && event.type === 'frozen') add('used_up', event.message)
      if (event.reason === 'in_doubt' && event.type === 'node_frozen')
        add('in_doubt', 'Whether a call took effect is not known.')
      return
    default:
  }
}

/** A call node gives what its call gave: anything else was made up. */
function compare(output: ValueRef, answer: CallAnswer | undefined, add: Add): void {
  if (answer === undefined)
    add('output_differs', 'The node gave an output, and its call has no recorded result.')
  else if (!answer.ok)
    add('output_differs', 'The node gave an output, and its call is recorded to have failed.')
  else if (!sameRef(output, answer.value))
    add('output_differs', 'The node gave something else than its call is recorded to have given.')
}

function sameRef(a: ValueRef, b: ValueRef): boolean {
  if ('digest' in a || 'digest' in b) return 'digest' in a && 'digest' in b && a.digest === b.digest
  return fingerprint(a.value) === fingerprint(b.value)
}

function failed({ code, message }: Failure, add: Add): void {
  const kind = Object.hasOwn(BY_CODE, code) ? BY_CODE[code] : undefined
  if (kind !== undefined) add(kind, message)
}

function ordinal(count: number): string {
  const ending = count % 10 === 3 && count % 100 !== 13 ? 'rd' : 'th'
  return `${count}${ending}`
}
