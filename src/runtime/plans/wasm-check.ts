/**
 * What is wrong with the WebAssembly that a plan names, found when it is checked or proposed and not in the middle of a run:
 * what it is, what it exports and imports, and what no guest may be. Nothing of it is run.
 *
 * Invariants
 * 1. All problems of a plan are told together, each at the member of the node that it is about.
 * 2. What is said is what running the node would end with, in the same words; how to go on is said in those of a plan.
 * 3. However many nodes name however large guests, the work is bounded, and leaves the host's loop its turns.
 */
import type { Digest } from '../../base/digest.ts'
import { CaissonError, type ErrorCode } from '../../base/errors.ts'
import type { GuestCapability } from '../../capability/call.ts'
import { caught } from '../../component/caught-problem.ts'
import { componentImportProblems, exportProblem } from '../../component/component-problems.ts'
import {
  type InspectedComponent,
  type InspectedGuest,
  type InspectedModule,
  inspectGuest,
  pauses,
} from '../../component/inspect-guest.ts'
import type { GrantWays } from '../../component/missing-imports.ts'
import { callProblem, moduleImportProblems } from '../../component/module/module-problems.ts'
import { ruleOf } from '../../graph/plan/authority.ts'
import { grantsOf, isRegistered, type RegisteredNode } from '../../graph/plan/node-kinds.ts'
import type { ComponentNode, ModuleNode, Plan } from '../../graph/plan/plan.ts'
import { visitNodes } from '../../graph/plan/plan-code.ts'
import { type PlanProblem, pointerTo } from '../../graph/plan/plan-problem.ts'
import { parseLimits } from '../../machine/limits.ts'
import type { WasiSource } from '../../ports/wasi-source.ts'
import { type WasiNames, wasiNames } from './wasi-names.ts'

/** What is known where the plan is checked. */
export interface WasmCheckParts {
  /** Its bytes, which nobody changes and which are what the digest says; undefined for what is not here: not looked at. */
  readonly bytesOf: (digest: Digest) => Promise<Uint8Array | undefined>
  /** Left out where the platform has no WASI: all of it is taken to be there. */
  readonly wasi: WasiSource | undefined
  /** Whether a capability answers at once; undefined where that is not known here. */
  readonly isSync: (capability: string) => boolean | undefined
  /** Milliseconds, never going back. */
  readonly monotonic: () => number
}

/** Imports, each as often as a node has it and for each of its grants: some seconds. */
const MOST_WORK = 2_000_000
/** So many of them are compared by name while one import is looked up. */
const EXPORTS_AS_ONE = 20
const PAGE = 65_536

const PLAN_WAYS: GrantWays = {
  grant: ' (grants of the node and of the plan)',
  also: { module: ' One that never calls them runs with "missing: trap" in its node.', component: '' },
}

interface PlacedNode {
  readonly node: RegisteredNode
  readonly at: string
  readonly index: number
}

/** @param plan checked */
export async function wasmProblems(plan: Plan, parts: WasmCheckParts): Promise<readonly PlanProblem[]> {
  const byDigest = new Map<Digest, PlacedNode[]>()
  let index = 0
  visitNodes(plan, '', (node, at) => {
    if (!isRegistered(node) || node.wasm === undefined) return
    const digest = node.wasm as Digest
    const others = byDigest.get(digest)
    const placed = { node, at, index: index++ }
    if (others === undefined) byDigest.set(digest, [placed])
    else others.push(placed)
  })
  if (byDigest.size === 0) return []
  const known = (plan.grants ?? []).map((grant) => ruleOf(grant).capability)
  const check = new WasmCheck(parts, known)
  const found: Found[] = []
  for (const [digest, nodes] of byDigest) found.push(...(await check.ofGuest(digest, nodes)))
  // As they stand in the plan, whatever guests they share.
  return found.sort((a, b) => a.index - b.index).map(({ problem }) => problem)
}

interface Found {
  readonly problem: PlanProblem
  readonly index: number
}

class WasmCheck {
  readonly #parts: WasmCheckParts
  readonly #known: readonly string[]
  readonly #pause: () => Promise<void>
  #work = 0

  constructor(parts: WasmCheckParts, known: readonly string[]) {
    this.#parts = parts
    this.#known = known
    this.#pause = pauses(parts.monotonic)
  }

  async ofGuest(digest: Digest, nodes: readonly PlacedNode[]): Promise<readonly Found[]> {
    const { bytesOf, monotonic, wasi } = this.#parts
    const bytes = await bytesOf(digest)
    if (bytes === undefined) return []
    let guest: InspectedGuest
    try {
      guest = await inspectGuest(bytes, monotonic)
    } catch (error) {
      if (!CaissonError.is(error)) throw error
      return nodes.map(({ at, index }) => ({ problem: problemAt(pointerTo(at, 'wasm'), error), index }))
    }
    const names = wasiNames(wasi, guest)
    const found: Found[] = []
    for (const { node, at, index } of nodes) {
      await this.#pause()
      for (const problem of this.#ofNode(node, at, guest, names)) found.push({ problem, index })
    }
    return found
  }

  #ofNode(node: RegisteredNode, at: string, guest: InspectedGuest, wasi: WasiNames): readonly PlanProblem[] {
    if (node.kind !== guest.form) return [wrongKind(node, at)]
    const { imports, exports } = sizeOf(guest)
    this.#work += imports * (1 + grantsOf(node).length) + exports / EXPORTS_AS_ONE
    if (this.#work > MOST_WORK) return [problemOf(at, TOO_MUCH, 'value_too_large')]
    const refusals = guest.refusals.map((error) => problemAt(pointerTo(at, 'wasm'), error))
    const memory = memoryProblems(node, at, guest)
    const own =
      guest.form === 'module'
        ? this.#ofModule(node as ModuleNode, at, guest, wasi)
        : this.#ofComponent(node as ComponentNode, at, guest, wasi)
    return [...refusals, ...own, ...memory]
  }

  #ofModule(
    node: ModuleNode,
    at: string,
    { core }: InspectedModule,
    { preview1 }: WasiNames,
  ): readonly PlanProblem[] {
    const problems: PlanProblem[] = []
    const { entry, startUp = [], missing = 'refuse' } = node
    for (const [i, call] of startUp.entries())
      add(pointerTo(pointerTo(at, 'startUp'), i), callProblem(core, call))
    for (const [i, call] of (entry ?? []).entries())
      add(pointerTo(pointerTo(at, 'entry'), i), callProblem(core, call))
    if (entry === undefined) add(pointerTo(at, 'wasm'), callProblem(core, { name: '_start', args: [] }))
    const granted = this.#granted(node)
    for (const error of moduleImportProblems(core, granted, preview1, missing, PLAN_WAYS))
      add(pointerTo(at, 'grants'), error)
    return problems

    function add(place: string, error: CaissonError | undefined): void {
      if (error !== undefined) problems.push(problemAt(place, error))
    }
  }

  #ofComponent(
    node: ComponentNode,
    at: string,
    guest: InspectedComponent,
    { preview2 }: WasiNames,
  ): readonly PlanProblem[] {
    const called = exportProblem(guest, node.export, (node.args ?? []).length)
    const granted = this.#granted(node)
    const grants = { granted, known: this.#known, wasi: preview2, ways: PLAN_WAYS }
    const imports = componentImportProblems(guest, grants)
    return [
      ...(called === undefined ? [] : [problemAt(pointerTo(at, called.of), called.error)]),
      ...imports.map((error) => problemAt(pointerTo(at, 'grants'), error)),
    ]
  }

  /** What is not known to be answered later is not said to be. */
  #granted(node: RegisteredNode): readonly GuestCapability[] {
    return grantsOf(node).map((grant) => {
      const name = ruleOf(grant).capability
      return { name, sync: this.#parts.isSync(name) ?? true }
    })
  }
}

const TOO_MUCH =
  'its wasm was not looked at: the nodes before took all the work that a check has. Split the plan, or let fewer nodes name guests with so many imports'

function sizeOf(guest: InspectedGuest): { readonly imports: number; readonly exports: number } {
  const { cores } = guest
  const imports = cores.reduce((sum, core) => sum + core.imports.length, 0)
  if (guest.form === 'module') return { imports, exports: guest.core.exports.length }
  return { imports: imports + guest.shape.imports.length, exports: guest.shape.exports.length }
}

/** Of limits that are none, too. */
function memoryProblems(
  { limits }: RegisteredNode,
  at: string,
  { cores }: InspectedGuest,
): readonly PlanProblem[] {
  const error = caught(() => {
    const pages = Math.floor(parseLimits(limits).memoryBytes / PAGE)
    for (const core of cores) core.checkMemory(pages)
  })
  return error === undefined ? [] : [problemAt(pointerTo(at, 'limits'), error)]
}

function wrongKind({ kind }: RegisteredNode, at: string): PlanProblem {
  const place = pointerTo(at, 'kind')
  return kind === 'module'
    ? problemOf(
        place,
        'is "module", and its wasm is a component: say "kind: component", and in "export" which of its functions is called',
        'invalid_module',
      )
    : problemOf(
        place,
        'is "component", and its wasm is a core module: say "kind: module", or make a component of it (wasm-tools component new)',
        'invalid_component',
      )
}

function problemOf(at: string, problem: string, code: ErrorCode): PlanProblem {
  return { at, problem, code }
}

/** A message as what continues "nodes/query/export: ". */
function problemAt(at: string, { message, code }: CaissonError): PlanProblem {
  const first = /^[A-Z][a-z]*\b/.test(message) ? message.charAt(0).toLowerCase() : message.charAt(0)
  return problemOf(at, first + message.slice(1).replace(/\.$/, ''), code)
}
