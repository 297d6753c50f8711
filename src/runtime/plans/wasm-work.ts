/**
 * Nodes that are WebAssembly, done: from the recorded input of a node to what its guest is started with, and from how
 * that ended to the end of a program, which is all that the rest of a run knows.
 *
 * Another kind of guest is another function here, in `RUNNERS`.
 *
 * Invariants
 * 1. The same wasm, input, seed and time give the same fuel, output and state: nothing else of the host goes in. So a
 *    node that an earlier process left at work is begun anew, and verifying does it again.
 * 2. What is wrong with the wasm, or with what it gave, fails the node. What is wrong with this process does not.
 */
import { DISPOSE } from '../../base/disposal.ts'
import { CaissonError } from '../../base/errors.ts'
import { clipText } from '../../base/escape-text.ts'
import type { ModuleResult } from '../../component/module/module-end.ts'
import type { OpenComponent } from '../../component/open-component.ts'
import { plainOf, witOf } from '../../component/wit-value.ts'
import type { RegisteredNode } from '../../graph/plan/node-kinds.ts'
import type { BytesForm, ComponentNode, ModuleNode } from '../../graph/plan/plan.ts'
import type { Limits } from '../../machine/limits.ts'
import type { OpenComponentOptions } from '../components/component-options.ts'
import type { RunOptions } from '../options.ts'
import type { Outcome } from '../outcome.ts'
import type { ModuleOutcome, RunModuleOptions } from '../wasi/module-options.ts'

/** What the runtime lends. */
export interface WasmTools {
  readonly runModule: (wasm: Uint8Array, options: RunModuleOptions) => Promise<ModuleOutcome>
  readonly openComponent: (wasm: Uint8Array, options: OpenComponentOptions) => Promise<OpenComponent>
}

/** What a guest is started with, beside what its node says. */
export type WasmOptions = Pick<RunOptions, 'domain' | 'principal' | 'signal' | 'stateDigest'> & {
  readonly input: unknown
  readonly limits: Limits
  readonly seed: Uint8Array
  readonly nowMs: number
}

type Runner<N> = (node: N, wasm: Uint8Array, options: WasmOptions, tools: WasmTools) => Promise<Outcome>

const RUNNERS: { readonly [K in RegisteredNode['kind']]: Runner<Extract<RegisteredNode, { kind: K }>> } = {
  module: runModuleNode,
  component: runComponentNode,
}

/** @throws CaissonError what is not about the node */
export async function runWasm(
  node: RegisteredNode,
  wasm: Uint8Array,
  options: WasmOptions,
  tools: WasmTools,
): Promise<Outcome> {
  const run = RUNNERS[node.kind] as Runner<RegisteredNode>
  try {
    return await run(node, wasm, options, tools)
  } catch (error) {
    if (!CaissonError.is(error) || !OF_THE_GUEST.has(error.code)) throw error
    return failedOutcome(node, error.code, error.message)
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
  'not_found',
  'unsupported_feature',
  'value_refused',
  'value_too_deep',
  'value_too_large',
])

async function runModuleNode(
  node: ModuleNode,
  wasm: Uint8Array,
  { input, ...options }: WasmOptions,
  { runModule }: WasmTools,
): Promise<Outcome> {
  const { args, env, stdin, files } = input as ModuleInput
  const outcome = await runModule(wasm, {
    ...options,
    name: 'program',
    args: args.map(textOf),
    env: Object.fromEntries(Object.entries(env).map(([name, value]) => [name, textOf(value)])),
    ...(stdin !== null && { stdin: contentOf(stdin) }),
    directories: {
      [node.directory ?? '/']: {
        files: Object.fromEntries(Object.entries(files).map(([path, value]) => [path, contentOf(value)])),
        writable: true,
      },
    },
    // It waits for nobody: a sleep moves its clock, and the same turn goes on.
    suspendable: false,
  })
  if (outcome.status !== 'completed') return outcome
  const { exitCode, stdout, stderr, files: written } = outcome.value as ModuleResult
  const said = new TextDecoder().decode(stderr)
  if (exitCode !== 0 && node.exit !== 'any') {
    const tail = said.trim().slice(-500)
    const message = `The module exited with ${exitCode}${tail === '' ? '.' : `: ${tail}`}`
    return { ...outcome, status: 'failed', error: { name: 'Exit', code: 'capability_failed', message } }
  }
  try {
    const all = Object.entries(node.writes ?? {}).map(([path, form]) => [
      path,
      formOf(written[under(node.directory ?? '/', path)], form, path),
    ])
    const value = {
      exitCode,
      stdout: formOf(stdout, node.stdout ?? 'text', 'standard output'),
      stderr: said,
      files: Object.fromEntries(all),
    }
    return { ...outcome, value }
  } catch (error) {
    if (!CaissonError.is(error, 'invalid_result')) throw error
    return {
      ...outcome,
      status: 'failed',
      error: { name: 'Output', code: error.code, message: error.message },
    }
  }
}

/** What `inputOf` of its kind gives. */
interface ModuleInput {
  readonly args: readonly unknown[]
  readonly env: Readonly<Record<string, unknown>>
  readonly stdin: unknown
  readonly files: Readonly<Record<string, unknown>>
}

function under(directory: string, path: string): string {
  return directory === '/' ? `/${path}` : `${directory}/${path}`
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : jsonOf(value)
}

function contentOf(value: unknown): string | Uint8Array {
  return value instanceof Uint8Array ? value : textOf(value)
}

function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'null'
  } catch {
    throw new CaissonError('value_refused', 'What a module is given is text, bytes, or what JSON can say.')
  }
}

function formOf(bytes: Uint8Array | undefined, form: BytesForm, what: string): unknown {
  const shown = clipText(what, 200)
  if (bytes === undefined) throw new CaissonError('invalid_result', `The module has not written ${shown}.`)
  if (form === 'bytes') return bytes
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return form === 'text' ? text : (JSON.parse(text) as unknown)
  } catch {
    throw new CaissonError('invalid_result', `What the module gave as ${shown} is no ${form}.`)
  }
}

async function runComponentNode(
  node: ComponentNode,
  wasm: Uint8Array,
  { input, domain, principal, signal, limits, seed, nowMs }: WasmOptions,
  { openComponent }: WasmTools,
): Promise<Outcome> {
  const component = await openComponent(wasm, {
    ...(domain !== undefined && { domain }),
    ...(principal !== undefined && { principal }),
    ...(signal && { signal }),
    limits,
    seed,
    nowMs,
  })
  try {
    return await callComponentNode(node, component, input, signal)
  } finally {
    component[DISPOSE]()
  }
}

async function callComponentNode(
  node: ComponentNode,
  component: OpenComponent,
  input: unknown,
  signal: AbortSignal | undefined,
): Promise<Outcome> {
  const found = component.exports.find(({ name }) => name === node.export)
  if (found === undefined) {
    const names = component.exports.map(({ name }) => name).join(', ')
    const message = `The component has no export "${node.export}". It has: ${names.slice(0, 500) || 'none'}.`
    throw new CaissonError('not_found', message)
  }
  const { params, result } = found.type
  const given = input as readonly unknown[]
  if (given.length !== params.length)
    throw new CaissonError(
      'invalid_arguments',
      `"${node.export}" takes ${params.length} arguments, not ${given.length}.`,
    )
  const args = params.map(({ type }, at) => witOf(type, given[at]))
  const ended = await component.call(node.export, args, signal === undefined ? {} : { signal })
  const { fuel, memoryBytes, wallMs } = ended.usage
  const common = {
    engine: engineOf(node),
    usage: { ...NOTHING_USED, fuel, memoryBytes, wallMs },
    logs: [],
    unhandledRejections: [],
  }
  switch (ended.status) {
    case 'completed': {
      if (result === undefined) return { ...common, status: 'completed', value: null }
      const value = plainOf(result, ended.value)
      if (result.kind !== 'result') return { ...common, status: 'completed', value }
      const { tag, val = null } = value as { readonly tag: string; readonly val?: unknown }
      if (tag === 'ok') return { ...common, status: 'completed', value: val }
      return { ...common, status: 'failed', error: errorOf('Err', jsonOf(val)) }
    }
    case 'exited':
      return { ...common, status: 'failed', error: errorOf('Exit', `It exited with ${ended.exitCode}.`) }
    case 'failed':
      return { ...common, status: 'failed', error: ended.error }
    case 'exhausted':
      return { ...common, status: 'exhausted', limit: ended.limit, message: ended.message }
    case 'suspended':
      return { ...common, status: 'failed', error: errorOf('Waits', 'It waits for what nobody grants it.') }
  }
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

function errorOf(name: string, message: string): { name: string; code: string; message: string } {
  return { name, code: 'capability_failed', message: message.slice(0, 2_000) }
}

function failedOutcome(node: RegisteredNode, code: string, message: string): Outcome {
  const common = { engine: engineOf(node), usage: NOTHING_USED, logs: [], unhandledRejections: [] }
  return { ...common, status: 'failed', error: { name: 'CaissonError', code, message } }
}

/** Names what executes it: raised when the same component is charged, or called, otherwise. */
const RULES = 1

function engineOf({ kind, wasm }: RegisteredNode): string {
  return `${kind}:${RULES}:${String(wasm)}`
}
