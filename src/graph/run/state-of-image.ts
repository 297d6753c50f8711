/**
 * Makes the state again that an image shows.
 *
 * Invariant: nothing that was read is believed before its shape was checked, and nothing is made of it that its plan
 * does not have.
 */
import { CaissonError } from '../../base/errors.ts'
import { clipText, escapeText } from '../../base/escape-text.ts'
import type { Plan } from '../plan/plan.ts'
import { PlanProblems } from '../plan/plan-problem.ts'
import { type NodeState, newNode, type ScopeState } from './node-state.ts'
import { RunState } from './run-state.ts'
import { innerScope, type ScopePlan, scopePlan } from './scope-plan.ts'
import {
  idsOf,
  type NodeImage,
  type Numbered,
  PLAIN_NODE_MEMBERS,
  type ScopeImage,
  type StateImage,
} from './state-image.ts'
import { STATE_IMAGE_SHAPE } from './state-image-shape.ts'

/**
 * @param plan the one that the run was proposed with, checked
 * @param data as it was decoded
 * @throws CaissonError `corrupted` with `details: { problem }` for what is no image of a run of this plan
 */
export function stateOfImage(plan: Plan, data: unknown): RunState {
  const image = parseImage(data)
  const state = new RunState(plan)
  const { nodes, scopes } = new Builder(plan, image).build()
  const all = (some: readonly Numbered[]): readonly NodeState[] => some.map((i) => get(nodes, i))
  const { proposal, grants, loops } = image
  state.status = image.status
  state.proposal = proposal
  state.proposedAtMs = proposal.timeMs
  state.input = proposal.input
  state.approval = image.approval
  state.reason = image.reason
  state.frozen = image.frozen
  state.left = image.left
  state.timeMs = image.timeMs
  state.failure = image.failure
  state.output = image.output
  state.startedAtMs = image.startedAtMs
  state.used = image.used
  state.more = image.more
  state.calls = image.calls
  state.events = image.events
  state.grants.recall(grants)
  state.loops.recall({ guard: loops, begun: loops.begun })
  state.root = scopes[0]
  for (const node of nodes) state.adopt(node)
  for (const [number, id] of image.ready) {
    const scope = get(scopes, number)
    if (!Object.hasOwn(scope.plan.scope.nodes, id)) throw unknown(`a node "${id.slice(0, 64)}"`)
    state.scopes.ready.set(scope.path + id, { scope, id })
  }
  note(state.live, all(image.live))
  note(state.toConclude, all(image.toConclude))
  note(state.toStandIn, all(image.toStandIn))
  note(state.toGoOn, all(image.toGoOn))
  note(state.toThaw, all(image.toThaw))
  state.undoable.push(...all(image.undoable))
  state.undoing = image.undoing === undefined ? undefined : get(nodes, image.undoing)
  return state
}

function parseImage(data: unknown): StateImage {
  const problems = new PlanProblems()
  STATE_IMAGE_SHAPE.check(data, '', problems)
  const [first] = problems.found
  if (first === undefined) return data as StateImage
  throw damaged(`${clipText(first.at.slice(1), 200)}: ${first.problem}`)
}

class Builder {
  readonly #plan: Plan
  readonly #image: StateImage
  readonly #nodes: NodeState[] = []
  readonly #scopes: (ScopeState | undefined)[]

  constructor(plan: Plan, image: StateImage) {
    this.#plan = plan
    this.#image = image
    this.#scopes = image.scopes.map(() => undefined)
  }

  build(): { readonly nodes: readonly NodeState[]; readonly scopes: readonly ScopeState[] } {
    const { nodes, scopes } = this.#image
    for (const node of nodes) this.#addNode(node)
    const built = scopes.map((_, i) => this.#scope(i))
    for (const [i, image] of scopes.entries()) this.#join(image, built[i] as ScopeState)
    for (const [i, { innerFailed }] of nodes.entries())
      if (innerFailed !== undefined) get(this.#nodes, i).innerFailed = get(this.#nodes, innerFailed)
    return { nodes: this.#nodes, scopes: built }
  }

  #addNode(image: NodeImage): void {
    const scope = this.#scope(image.scope)
    const { id } = image
    if (!Object.hasOwn(scope.plan.scope.nodes, id)) throw unknown(`a node "${id.slice(0, 64)}"`)
    if (scope.nodes.has(id)) throw damaged(`${scope.path}${id} is there twice`)
    const node = newNode(scope.path + id, id, scope)
    for (const member of PLAIN_NODE_MEMBERS) {
      // Each has the type of the member, by its shape.
      if (image[member] !== undefined) (node as unknown as Record<string, unknown>)[member] = image[member]
    }
    for (const { decision, ...asked } of image.requests ?? [])
      node.requests.set(asked.request, { ...asked, decision: decision && { value: undefined, ...decision } })
    if (image.call !== undefined) node.call = { answer: undefined, ...image.call }
    for (const doubt of image.doubts ?? []) node.doubts.set(doubt.call, { answer: undefined, ...doubt })
    scope.nodes.set(id, node)
    this.#nodes.push(node)
  }

  /** Those that have no node yet are made when they are first named. */
  #scope(number: Numbered): ScopeState {
    const known = this.#scopes[number]
    if (known !== undefined) return known
    const image = get(this.#image.scopes, number)
    const { index, open, live, waits } = image
    const owner = image.owner === undefined ? undefined : get(this.#nodes, image.owner)
    const plan = this.#scopePlan(owner, number)
    const ids = idsOf(plan.scope)
    if (waits.length !== ids.length) throw damaged('a scope has other nodes than its plan')
    const scope: ScopeState = {
      path: pathOf(owner, index),
      index,
      owner,
      plan,
      nodes: new Map(),
      waits: new Map(ids.map((id, i) => [id, waits[i] as number])),
      open,
      live,
      failed: undefined,
    }
    this.#scopes[number] = scope
    return scope
  }

  #scopePlan(owner: NodeState | undefined, number: Numbered): ScopePlan {
    if (owner === undefined) {
      if (number !== 0) throw damaged('a scope is in no node')
      return scopePlan(this.#plan)
    }
    const scope = innerScope(owner.node)
    if (scope === undefined) throw damaged(`${owner.path.slice(0, 200)} holds no nodes`)
    return scopePlan(scope)
  }

  #join({ isOpen, index, failed }: ScopeImage, scope: ScopeState): void {
    if (failed !== undefined) scope.failed = get(this.#nodes, failed)
    const { owner } = scope
    if (!isOpen || owner === undefined) return
    if (owner.inner.has(index)) throw damaged(`${scope.path.slice(0, 200)} is there twice`)
    owner.inner.set(index, scope)
  }
}

function pathOf(owner: NodeState | undefined, index: number): string {
  if (owner === undefined) return ''
  return owner.node.kind === 'plan' ? `${owner.path}/` : `${owner.path}/${index}/`
}

function note(list: Map<string, NodeState>, nodes: readonly NodeState[]): void {
  for (const node of nodes) list.set(node.path, node)
}

function get<T>(list: readonly T[], number: Numbered): T {
  const one = list[number]
  if (one === undefined) throw unknown(`number ${number}`)
  return one
}

function unknown(what: string): CaissonError {
  return damaged(`it names ${what}, which is not there`)
}

function damaged(problem: string): CaissonError {
  const shown = escapeText(clipText(problem, 500))
  return new CaissonError('corrupted', `It is no image of a run of this plan: ${shown}.`, {
    details: { problem: shown },
  })
}
