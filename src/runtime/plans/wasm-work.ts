/**
 * Nodes that are WebAssembly, done: from the recorded input of a node to what its guest is started with, and from how
 * that ended to the end of a program, which is all that the rest of a run knows.
 *
 * Another kind of guest is another entry here, in `KINDS`.
 *
 * Invariants
 * 1. The same wasm, input, seed, time and answers give the same fuel, output and state: nothing else of the host goes in. So
 *    a node that may call nothing, and that an earlier process left at work, is begun anew; and verifying does it again.
 * 2. A node that may call something is a kept run, and gone on with. Taken again, it calls nobody.
 * 3. What is wrong with the wasm, or with what it gave, fails the node. What is wrong with this process does not.
 */
import { CaissonError } from '../../base/errors.ts'
import { grantsOf, type RegisteredNode } from '../../graph/plan/node-kinds.ts'
import type { ComponentNode, ModuleNode } from '../../graph/plan/plan.ts'
import type { Limits } from '../../machine/limits.ts'
import type { MachineStart } from '../../machine/turn.ts'
import type { ComponentRuns } from '../components/component-runs.ts'
import type { KeptPlace } from '../guest-runs.ts'
import type { RepeatOptions, ResumeOptions, RunOptions } from '../options.ts'
import type { Outcome } from '../outcome.ts'
import type { ModuleRuns } from '../wasi/module-runs.ts'
import { MOST_SUSPENDABLE } from '../wasi/most-suspendable.ts'
import { componentEnd, componentOptions } from './component-node.ts'
import { moduleEnd, moduleOptions } from './module-node.ts'

/** What the runtime lends. */
export interface WasmTools {
  modules(): Promise<ModuleRuns>
  components(): Promise<ComponentRuns>
}

/** What a guest is started with, beside what its node says. */
export type WasmOptions = Pick<
  RunOptions,
  'domain' | 'principal' | 'signal' | 'stateDigest' | 'grants' | 'guard' | 'run' | 'nowMs'
> & {
  readonly input: unknown
  readonly limits: Limits
  readonly seed: Uint8Array
}

/** The guest of a node. */
export interface WasmGuest {
  /** Stands in the place of an engine where nothing was executed, because the wasm was refused. */
  readonly unbegun: string
  /** Names what executes it here. @throws CaissonError what the wasm is refused with */
  engine(options: WasmOptions): Promise<string>
  /** What its machine is started with, but for what it may call. */
  start(options: WasmOptions): Promise<MachineStart>
  /** @throws CaissonError what is not about the node */
  run(options: WasmOptions, place?: KeptPlace): Promise<Outcome>
  resume(run: string, options: ResumeOptions, place: KeptPlace): Promise<Outcome>
  /** As its record has it: calls nobody. */
  repeat(run: string, options: RepeatOptions, place: KeptPlace): Promise<Outcome>
}

/** Runs of guests of one kind. */
interface KindRuns<Own> {
  engine(wasm: Uint8Array, options: Own): Promise<string>
  start(wasm: Uint8Array, options: Own): Promise<MachineStart>
  run(wasm: Uint8Array, options: Own, place?: KeptPlace): Promise<Outcome>
  resume(run: string, wasm: Uint8Array, options: ResumeOptions, place: KeptPlace): Promise<Outcome>
  repeat(run: string, wasm: Uint8Array, options: RepeatOptions, place: KeptPlace): Promise<Outcome>
}

interface WasmKind<N, Own> {
  runs(tools: WasmTools): Promise<KindRuns<Own>>
  /** Of its input: what its guest is started with. */
  started(node: N, input: unknown): Partial<Own>
  /** What it is prepared with, whenever it is. */
  prepared(node: N, wasm: Uint8Array): object
  ended(node: N, outcome: Outcome): Outcome
}

const MODULES: WasmKind<ModuleNode, Parameters<ModuleRuns['run']>[1]> = {
  runs: (tools) => tools.modules() as Promise<KindRuns<Parameters<ModuleRuns['run']>[1]>>,
  started: moduleOptions,
  // One that waits for nobody moves its clock where it sleeps, and the same turn goes on.
  prepared: (node, wasm) => ({
    suspendable: grantsOf(node).length > 0 && wasm.length <= MOST_SUSPENDABLE,
  }),
  ended: moduleEnd,
}

const COMPONENTS: WasmKind<ComponentNode, Parameters<ComponentRuns['run']>[1]> = {
  runs: (tools) => tools.components() as Promise<KindRuns<Parameters<ComponentRuns['run']>[1]>>,
  started: componentOptions,
  prepared: () => ({}),
  ended: componentEnd,
}

const KINDS: Readonly<Record<RegisteredNode['kind'], unknown>> = { module: MODULES, component: COMPONENTS }

export function wasmGuest(node: RegisteredNode, wasm: Uint8Array, tools: WasmTools): WasmGuest {
  const kind = KINDS[node.kind] as WasmKind<RegisteredNode, unknown>
  const prepared = kind.prepared(node, wasm)
  const unbegun = `${node.kind}:${String(node.wasm)}`
  const own = ({ input, ...options }: WasmOptions): object => ({
    ...options,
    ...kind.started(node, input),
    ...prepared,
  })
  return {
    unbegun,
    engine: async (options) => (await kind.runs(tools)).engine(wasm, own(options)),
    start: async (options) => (await kind.runs(tools)).start(wasm, own(options)),
    async run(options, place) {
      try {
        return kind.ended(node, await (await kind.runs(tools)).run(wasm, own(options), place))
      } catch (error) {
        if (!isOfTheGuest(error)) throw error
        const common = { engine: unbegun, usage: NOTHING_USED, logs: [], unhandledRejections: [] }
        const { code, message } = error as CaissonError
        return { ...common, status: 'failed', error: { name: 'CaissonError', code, message } }
      }
    },
    async resume(run, options, place) {
      const again = { ...options, ...prepared }
      return kind.ended(node, await (await kind.runs(tools)).resume(run, wasm, again, place))
    },
    async repeat(run, options, place) {
      const again = { ...options, ...prepared }
      return kind.ended(node, await (await kind.runs(tools)).repeat(run, wasm, again, place))
    },
  }
}

const OF_THE_GUEST: ReadonlySet<string> = new Set([
  'invalid_argument',
  'invalid_arguments',
  'invalid_component',
  'invalid_limit',
  'invalid_module',
  'invalid_result',
  'missing_imports',
  'unsupported_feature',
  'value_refused',
  'value_too_deep',
  'value_too_large',
])

/** What is refused of the wasm itself, in whatever process. */
export function isOfTheGuest(error: unknown): boolean {
  if (!CaissonError.is(error)) return false
  const { code, details } = error
  if (OF_THE_GUEST.has(code)) return true
  // State that cannot be captured.
  return code === 'unsupported' && details.obstacle !== undefined
}

const NOTHING_USED = {
  fuel: 0,
  memoryBytes: 0,
  calls: 0,
  bytesIn: 0,
  bytesOut: 0,
  logsDropped: 0,
  wallMs: 0,
  idleMs: 0,
} as const
