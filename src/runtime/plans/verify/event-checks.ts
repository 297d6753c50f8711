/**
 * Whether an event follows from those before it: conditions, inputs, choices, rounds and outputs are evaluated again, and
 * what the state alone decides is decided again.
 *
 * Invariants
 * 1. Every value that an event names is there, and is what its digest says.
 * 2. What only the world or a person could say (answers, decisions, times) is taken as it was recorded.
 */
import type { Digest } from '../../../base/digest.ts'
import { CaissonError } from '../../../base/errors.ts'
import { type PersonRequest, requestDigest } from '../../../capability/person-request.ts'
import type { EvaluateExpression, Overrides } from '../../../graph/run/evaluate.ts'
import { Evaluator } from '../../../graph/run/evaluate.ts'
import { compensatedEvent } from '../../../graph/run/left-undone.ts'
import { type Action, nextActions } from '../../../graph/run/next-actions.ts'
import type { NodeState, ScopeState } from '../../../graph/run/node-state.ts'
import { failureOfNode } from '../../../graph/run/run-context.ts'
import type { EventType, NodeEvent, RecordedEvent, ValueRef } from '../../../graph/run/run-event.ts'
import type { RunState } from '../../../graph/run/run-state.ts'
import type { RunValues } from '../../../graph/run/run-values.ts'
import { inputOf } from '../../../graph/run/working-nodes.ts'
import { digestValue } from '../../../values/digest-value.ts'
import type { ValueLimits } from '../../../values/limits.ts'
import type { RunOwner } from '../../run-owner.ts'
import { happenedIn } from '../lineage.ts'
import { pointOf } from '../plan-record.ts'
import { requestOf } from '../read-standing.ts'
import { checkSame, type Difference, Differs } from './difference.ts'

/** As large as values of runs are. */
export const VALUE_LIMITS: ValueLimits = { bytes: 16 * 1024 * 1024, nodes: 1_000_000, depth: 500 }

export interface EventChecksParts {
  readonly owner: RunOwner
  /** Before the event that is checked. */
  readonly state: RunState
  readonly values: RunValues
  readonly expression: EvaluateExpression
  /** Digests of the entries of the journal. */
  readonly digests: readonly Digest[]
  readonly signal: AbortSignal
}

type EventOf<Type extends EventType> = Extract<RecordedEvent, { type: Type }>

export class EventChecks {
  readonly #parts: EventChecksParts
  readonly #evaluator: Evaluator
  /** Of nodes whose input could not be evaluated: they failed with it. */
  readonly #failing = new Set<string>()

  constructor(parts: EventChecksParts) {
    this.#parts = parts
    this.#evaluator = new Evaluator(parts.state, parts.values, parts.expression)
  }

  /** @param at number of the event, which comes next. @throws Differs */
  async check(event: RecordedEvent, at: number): Promise<void> {
    await this.#checkValues(event, at)
    const node = 'node' in event ? this.#parts.state.node(event.node) : undefined
    if (node !== undefined && this.#failing.delete(node.path) && event.type !== 'node_failed')
      throw unfollowing(event, at)
    switch (event.type) {
      case 'approved': {
        const { owner, id } = happenedIn(this.#parts.owner, this.#parts.state, at)
        const request = requestOf(owner, this.#parts.state, id)
        return this.#same(at, 'request', 'what was approved', event.request, request)
      }
      case 'confirmed':
        return this.#confirmed(event.point, at)
      case 'completed':
        if (!this.#follows(({ do: what }) => what === 'complete')) throw unfollowing(event, at)
        return this.#output(this.#parts.state.root, event.output, at, undefined)
      case 'failing':
        if (event.node === '') return this.#withoutOutput(event, at)
        if (!this.#follows(({ do: what }) => what === 'fail_run')) throw unfollowing(event, at)
        return
      case 'failed':
      case 'cancelled':
      case 'compensated':
      case 'undoing':
        if (!this.#follows((action) => endsWith(action, event.type))) throw unfollowing(event, at)
        if (event.type !== 'compensated') return
        return this.#left(event, at)
      case 'node_started':
        return node === undefined ? this.#begun(event, at) : this.#again(node, event, at)
      case 'node_skipped':
        return this.#skipped(event, at)
      default:
        if (node !== undefined) return this.#ofNode(node, event as NodeEvent & RecordedEvent, at)
    }
  }

  /** It failed as its output could not be made. */
  async #withoutOutput(event: EventOf<'failing'>, at: number): Promise<void> {
    if (!this.#follows(({ do: what }) => what === 'complete')) throw unfollowing(event, at)
    try {
      await this.#outputOf(this.#parts.state.root)
    } catch (error) {
      failureOfNode(error)
      return
    }
    throw unfollowing(event, at)
  }

  #left({ left, more = 0 }: EventOf<'compensated'>, at: number): void {
    const found = compensatedEvent(this.#parts.state.nodes)
    const digestOf = (names: readonly string[], others: number): Digest => digestValue([names, others])
    this.#same(at, 'output', 'what was left', digestOf(left, more), digestOf(found.left, found.more ?? 0))
  }

  async #ofNode(node: NodeState, event: NodeEvent & RecordedEvent, at: number): Promise<void> {
    switch (event.type) {
      case 'node_expanded':
        return this.#expanded(node, event.items, at)
      case 'node_round':
        return this.#round(node, event, at)
      case 'node_completed':
        return this.#completed(node, event, at)
      case 'node_recovered':
        return this.#recovered(node, event, at)
      case 'node_undoing':
        if (!this.#follows((action) => action.do === 'undo' && action.node === node))
          throw unfollowing(event, at)
        return
      case 'node_waiting':
        return this.#waiting(event, at)
      default:
    }
  }

  /** Its first attempt: whether it begins, and what it is given. */
  async #begun(event: EventOf<'node_started'>, at: number): Promise<void> {
    const { node: path } = event
    const scope = this.#mayBegin(event, at)
    const node = scope.plan.node(path.slice(scope.path.length))
    try {
      if (node.when !== undefined)
        this.#same(
          at,
          'condition',
          'the condition',
          'true',
          String((await this.#evaluate(node.when, scope)) === true),
          path,
        )
      const input = await this.#evaluate(inputOf(node), scope)
      await this.#equal(event.input, input, { of: 'input', position: at, node: path, words: 'the input' })
    } catch (error) {
      failureOfNode(error)
      await this.#equal(event.input, null, { of: 'input', position: at, node: path, words: 'the input' })
      this.#failing.add(path)
    }
  }

  async #again(node: NodeState, event: EventOf<'node_started'>, at: number): Promise<void> {
    const { path } = node
    this.#same(at, 'order', 'the number of the attempt', event.attempt, node.attempt + 1, path)
    const before = digestOfRef(node.input ?? { value: null })
    this.#same(at, 'input', 'the input', digestOfRef(event.input), before, path)
  }

  async #skipped(event: EventOf<'node_skipped'>, at: number): Promise<void> {
    const { node: path, reason } = event
    if (reason === 'decided') return
    if (reason !== 'condition') {
      const isSo = (action: Action): boolean =>
        action.do === 'skip' && action.path === path && action.reason === reason
      if (!this.#follows(isSo)) throw unfollowing(event, at)
      return
    }
    const scope = this.#mayBegin(event, at)
    const { when = true } = scope.plan.node(path.slice(scope.path.length))
    this.#same(
      at,
      'condition',
      'the condition',
      'false',
      String((await this.#evaluate(when, scope)) === true),
      path,
    )
  }

  #mayBegin(event: RecordedEvent & NodeEvent, at: number): ScopeState {
    const { path, scope } = { path: event.node, scope: this.#parts.state.ready.get(event.node)?.scope }
    const follows = this.#follows((action) => action.do === 'begin' && action.path === path)
    if (scope === undefined || !follows) throw unfollowing(event, at)
    return scope
  }

  async #expanded(node: NodeState, items: number, at: number): Promise<void> {
    const list = await this.#parts.values.load(node.input ?? { value: null })
    this.#same(
      at,
      'output',
      'the number of items',
      items,
      Array.isArray(list) ? list.length : undefined,
      node.path,
    )
  }

  async #round(node: NodeState, event: EventOf<'node_round'>, at: number): Promise<void> {
    const { path, scope, rounds } = node
    if (node.node.kind !== 'loop' || !this.#concludes(node)) throw unfollowing(event, at)
    this.#same(at, 'order', 'the number of the round', event.round, rounds, path)
    await this.#output(node.inner.get(rounds), event.state, at, path)
    const overrides: Overrides = { state: event.state, index: { value: rounds } }
    const done = (await this.#evaluate(node.node.until, scope, overrides)) === true
    this.#same(at, 'condition', 'whether it was done', String(event.done), String(done), path)
  }

  async #completed(node: NodeState, event: EventOf<'node_completed'>, at: number): Promise<void> {
    const { path, scope } = node
    const words = { of: 'output', position: at, node: path, words: 'the output' } as const
    switch (node.node.kind) {
      case 'choice': {
        let chosen = node.node.otherwise ?? []
        for (const { when, take } of node.node.cases) {
          if ((await this.#evaluate(when, scope)) !== true) continue
          chosen = take
          break
        }
        this.#same(at, 'condition', 'what was chosen', (event.chosen ?? []).join(), chosen.join(), path)
        return this.#equal(event.output, [...chosen], words)
      }
      case 'call': {
        const { answer } = node.call ?? {}
        const answered = answer?.ok === true ? digestOfRef(answer.value) : undefined
        return this.#same(at, 'output', 'the output', digestOfRef(event.output), answered, path)
      }
      case 'each': {
        if (!this.#concludes(node)) throw unfollowing(event, at)
        const outputs: unknown[] = []
        for (let i = 0; i < (node.items ?? 0); i += 1) outputs.push(await this.#outputOf(node.inner.get(i)))
        return this.#equal(event.output, outputs, words)
      }
      case 'loop':
        if (!this.#concludes(node)) throw unfollowing(event, at)
        return this.#same(
          at,
          'output',
          'the output',
          digestOfRef(event.output),
          digestOfRef(node.roundState ?? { value: null }),
          path,
        )
      case 'plan':
        if (!this.#concludes(node)) throw unfollowing(event, at)
        return this.#output(node.inner.get(0), event.output, at, path)
      default:
    }
  }

  async #recovered(node: NodeState, event: EventOf<'node_recovered'>, at: number): Promise<void> {
    const { node: document, scope, path, standby } = node
    const fallback = 'fallback' in document ? document.fallback?.[event.fallback] : undefined
    if (fallback?.node !== undefined) {
      const output = digestOfRef(scope.nodes.get(standby ?? '')?.output ?? { value: null })
      this.#same(at, 'output', 'what stands in', digestOfRef(event.output), output, path)
    } else if (fallback !== undefined && Object.hasOwn(fallback, 'value')) {
      const value = await this.#evaluate(fallback.value, scope)
      await this.#equal(event.output, value, {
        of: 'output',
        position: at,
        node: path,
        words: 'what stands in',
      })
    }
  }

  /** What people were asked is what the digest of the request says. */
  async #waiting({ waiting, node }: EventOf<'node_waiting'>, at: number): Promise<void> {
    if (waiting.for !== 'person') return
    for (const { request, shown } of waiting.asked) {
      const digest = requestDigest((await this.#parts.values.load(shown)) as PersonRequest)
      this.#same(at, 'request', 'what was asked', request, digest, node)
    }
  }

  /** The point that somebody confirmed is one at which the run stood since it was interrupted. */
  #confirmed(point: Digest, at: number): void {
    const { owner, digests, state } = this.#parts
    // The journal of a fork is another one than the one that somebody saw.
    if (happenedIn(owner, state, at).isInherited) return
    for (let length = at; length > 0 && at - length < MOST_BEFORE; length -= 1)
      if (pointOf(owner, { length, digest: digests[length - 1] }) === point) return
    const message = `Entry ${at}: what was confirmed is no point at which the run stood.`
    throw new Differs({ of: 'point', position: at, recorded: point, message })
  }

  async #checkValues(event: RecordedEvent, at: number): Promise<void> {
    for (const ref of refsOf(event)) {
      try {
        await this.#parts.values.load(ref)
      } catch (error) {
        // What else the event says is looked at all the same.
        if (CaissonError.is(error, 'erased')) continue
        if (!CaissonError.is(error) || !UNREADABLE.has(error.code)) throw error
        const node = 'node' in event ? { node: event.node } : {}
        const digest = 'digest' in ref ? ref.digest : undefined
        const message = `Entry ${at}: ${error.message}`
        throw new Differs({
          of: 'value',
          position: at,
          ...node,
          ...(digest && { recorded: digest }),
          message,
        })
      }
    }
  }

  async #output(
    scope: ScopeState | undefined,
    ref: ValueRef,
    at: number,
    node: string | undefined,
  ): Promise<void> {
    const place = { of: 'output', position: at, ...(node !== undefined && { node }) } as const
    await this.#equal(ref, await this.#outputOf(scope), { ...place, words: 'the output' })
  }

  async #outputOf(scope: ScopeState | undefined): Promise<unknown> {
    return scope === undefined ? null : this.#evaluate(scope.plan.scope.output ?? null, scope)
  }

  #evaluate(template: unknown, scope: ScopeState, overrides?: Overrides): Promise<unknown> {
    return this.#evaluator.evaluate(template, scope, this.#parts, overrides)
  }

  async #equal(
    ref: ValueRef,
    value: unknown,
    what: Omit<Difference, 'message' | 'recorded' | 'found'> & { readonly words: string },
  ): Promise<void> {
    checkSame(what, digestOfRef(ref), digestValue(value, VALUE_LIMITS))
  }

  #same(
    position: number,
    of: Difference['of'],
    words: string,
    recorded: string | number | undefined,
    found: string | number | undefined,
    node?: string,
  ): void {
    checkSame({ of, position, words, ...(node !== undefined && { node }) }, recorded, found)
  }

  #concludes(node: NodeState): boolean {
    return this.#follows((action) => action.do === 'conclude' && action.node === node)
  }

  #follows(is: (action: Action) => boolean): boolean {
    return nextActions(this.#parts.state).some(is)
  }
}

/** Entries that may stand between a point that somebody saw and their word for it: answers to calls in doubt. */
const MOST_BEFORE = 1_000

const UNREADABLE: ReadonlySet<string> = new Set([
  'corrupted',
  'not_found',
  'value_too_large',
  'value_too_deep',
])

/** The digest of a value, as it is recorded. */
export function digestOfRef(ref: ValueRef): Digest {
  return 'digest' in ref ? ref.digest : digestValue(ref.value, VALUE_LIMITS)
}

/** Every value that an event names. */
export function refsOf(event: RecordedEvent): readonly ValueRef[] {
  const found: ValueRef[] = []
  const look = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    if (Object.hasOwn(value, 'bytes') && Object.hasOwn(value, 'digest')) found.push(value as ValueRef)
    // What stands in the event itself is data, and names nothing.
    else if (Object.keys(value).length === 1 && Object.hasOwn(value, 'value')) return
    else for (const member of Object.values(value)) look(member)
  }
  look(event)
  return found
}

function endsWith(action: Action, type: RecordedEvent['type']): boolean {
  switch (type) {
    case 'undoing':
      return action.do === 'begin_undoing'
    default:
      return action.do === 'end' && action.as === type
  }
}

function unfollowing(event: RecordedEvent, at: number): Differs {
  const node = 'node' in event ? { node: event.node } : {}
  const whose = 'node' in event ? ` of node "${event.node.slice(0, 200)}"` : ''
  const message = `Entry ${at}: "${event.type}"${whose} does not follow from what happened before it.`
  return new Differs({ of: 'order', position: at, ...node, message })
}
