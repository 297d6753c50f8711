/** Makes the image of a state: everything that it goes on from, and nothing that it can be told without. */
import { CaissonError } from '../../base/errors.ts'
import { copyValue } from '../../values/copy-value.ts'
import { encodeCanonical } from '../../values/encode-canonical.ts'
import { encodeTree } from '../../values/encode-tree.ts'
import type { ValueLimits } from '../../values/limits.ts'
import type { NodeState, ScopeState } from './node-state.ts'
import type { NodePlace } from './run-scopes.ts'
import type { RunState } from './run-state.ts'
import {
  idsOf,
  type NodeImage,
  type Numbered,
  PLAIN_NODE_MEMBERS,
  type ScopeImage,
  STATE_IMAGE_FORMAT,
  type StateImage,
} from './state-image.ts'

/**
 * The image of a state that has had its first event: a copy, of which no part is met twice. A state that was folded has
 * other objects in common than one that was lived.
 * @throws CaissonError `invalid_transition` before there was an event
 */
export function imageOfState(state: RunState): StateImage {
  return unshared(imagePartsOf(state)) as StateImage
}

/**
 * The canonical bytes of the image of a state, whose digest is that of the state.
 * @throws CaissonError as `imageOfState`, and as `encodeCanonical` for a state that is too large, or has a value too deep
 */
export function encodeImage(state: RunState, limits: ValueLimits): Uint8Array {
  const parts = imagePartsOf(state)
  return encodeTree(parts, limits, isSmallValue) ?? encodeCanonical(unshared(parts), limits)
}

/** The image, with what it has in common with the state, and members that are undefined. */
function imagePartsOf(state: RunState): object {
  const { status, proposal, undoing, loops, scopes: open } = state
  if (status === undefined || proposal === undefined)
    throw new CaissonError('invalid_transition', 'A run has no state before it was proposed.')
  const { nodes, scopes } = numbered(state)
  const at = (node: NodeState): Numbered => nodes.get(node) as Numbered
  const all = (some: Iterable<NodeState>): readonly Numbered[] => [...some].map(at)
  const { guard, begun } = loops.memory
  return {
    format: STATE_IMAGE_FORMAT,
    status,
    proposal: { ...proposal, timeMs: state.proposedAtMs },
    approval: state.approval,
    reason: state.reason,
    frozen: state.frozen,
    left: state.left,
    timeMs: state.timeMs,
    failure: state.failure,
    output: state.output,
    startedAtMs: state.startedAtMs,
    used: state.used,
    more: state.more,
    calls: state.calls,
    events: state.events,
    grants: state.grants.taken,
    loops: { ...guard, begun },
    scopes: [...scopes.keys()].map((scope) => imageOfScope(scope, at)),
    nodes: [...nodes.keys()].map((node) => imageOfNode(node, scopes.get(node.scope) as Numbered, at)),
    ready: readyImage([...open.ready.values()], scopes),
    live: all(open.live.values()),
    toConclude: all(open.toConclude.values()),
    toStandIn: all(open.toStandIn.values()),
    toGoOn: all(state.toGoOn.values()),
    toThaw: all(state.toThaw.values()),
    undoable: all(state.undoable),
    undoing: undoing && at(undoing),
  }
}

/** Sorted: a plan that was read has its nodes in another order than its author wrote them. */
function readyImage(
  ready: readonly NodePlace[],
  scopes: ReadonlyMap<ScopeState, Numbered>,
): StateImage['ready'] {
  return ready
    .map(({ scope, id }) => [scopes.get(scope) as Numbered, id] as const)
    .sort(([a, x], [b, y]) => a - b || (x < y ? -1 : 1))
}

interface Numbers {
  readonly nodes: ReadonlyMap<NodeState, Numbered>
  readonly scopes: ReadonlyMap<ScopeState, Numbered>
}

function numbered(state: RunState): Numbers {
  const nodes = new Map<NodeState, Numbered>()
  const scopes = new Map<ScopeState, Numbered>()
  const add = (scope: ScopeState): void => {
    if (!scopes.has(scope)) scopes.set(scope, scopes.size)
  }
  if (state.root !== undefined) add(state.root)
  for (const node of state.nodes) {
    nodes.set(node, nodes.size)
    add(node.scope)
    for (const scope of node.inner.values()) add(scope)
  }
  return { nodes, scopes }
}

function imageOfScope(scope: ScopeState, at: (node: NodeState) => Numbered): ScopeImage {
  const { owner, index, waits, open, live, failed } = scope
  return withoutUndefined({
    owner: owner && at(owner),
    index,
    isOpen: owner === undefined || owner.inner.get(index) === scope,
    waits: idsOf(scope.plan.scope).map((id) => waits.get(id) ?? 0),
    open,
    live,
    failed: failed && at(failed),
  }) as unknown as ScopeImage
}

function imageOfNode(node: NodeState, scope: Numbered, at: (node: NodeState) => Numbered): NodeImage {
  const image: Record<string, unknown> = { scope, id: node.id }
  for (const member of PLAIN_NODE_MEMBERS) {
    const value = node[member]
    if (value !== undefined && value !== DEFAULTS[member] && !isEmpty(value)) image[member] = value
  }
  if (node.requests.size > 0)
    image.requests = [...node.requests.values()].map(({ decision, ...asked }) => ({
      ...withoutUndefined(asked),
      ...(decision && { decision: withoutUndefined(decision) }),
    }))
  if (node.call !== undefined) image.call = withoutUndefined(node.call)
  if (node.doubts.size > 0) image.doubts = [...node.doubts.values()].map(withoutUndefined)
  if (node.innerFailed !== undefined) image.innerFailed = at(node.innerFailed)
  return image as unknown as NodeImage
}

/** Of nodes that have none of it. */
const DEFAULTS: Partial<Readonly<Record<keyof NodeState, unknown>>> = {
  attempt: 0,
  asks: 0,
  innerEnded: 0,
  innerLive: 0,
  rounds: 0,
  roundsDone: false,
}

function isEmpty(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  for (const _ in value) return false
  return true
}

function withoutUndefined(members: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))
}

/** Values are copied whole, whatever they have in common inside of them. */
function unshared(part: unknown): unknown {
  if (typeof part !== 'object' || part === null) return part
  if (Array.isArray(part)) return part.map(unshared)
  if (isSmallValue(part)) return { value: copyValue(part.value) }
  const copy: [string, unknown][] = []
  for (const [name, member] of Object.entries(part))
    if (member !== undefined) copy.push([name, unshared(member)])
  return Object.fromEntries(copy)
}

/** A value that stands in an event itself. */
function isSmallValue(part: object): part is { readonly value: unknown } {
  if (!Object.hasOwn(part, 'value')) return false
  for (const name in part) if (name !== 'value') return false
  return true
}
