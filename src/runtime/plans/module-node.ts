/** A node that is a WASI module: what its guest is run with, and what it gave. */
import { CaissonError } from '../../base/errors.ts'
import { clipText } from '../../base/escape-text.ts'
import type { ModuleResult } from '../../component/module/module-end.ts'
import type { BytesForm, ModuleNode } from '../../graph/plan/plan.ts'
import type { Outcome } from '../outcome.ts'
import type { RunModuleOptions } from '../wasi/module-options.ts'

/** What `inputOf` of its kind gives. */
interface ModuleInput {
  readonly args: readonly unknown[]
  readonly env: Readonly<Record<string, unknown>>
  readonly stdin: unknown
  readonly files: Readonly<Record<string, unknown>>
}

/** @throws CaissonError `value_refused` for what is neither text, nor bytes, nor JSON */
export function moduleOptions(
  node: ModuleNode,
  input: unknown,
): Pick<
  RunModuleOptions,
  'name' | 'args' | 'env' | 'stdin' | 'directories' | 'entry' | 'startUp' | 'missing'
> {
  const { args, env, stdin, files } = input as ModuleInput
  const { entry, startUp, missing } = node
  return {
    name: 'program',
    ...(entry && { entry }),
    ...(startUp && { startUp }),
    ...(missing && { missing }),
    args: args.map(textOf),
    env: Object.fromEntries(Object.entries(env).map(([name, value]) => [name, textOf(value)])),
    ...(stdin !== null && { stdin: contentOf(stdin) }),
    directories: {
      [node.directory ?? '/']: {
        files: Object.fromEntries(Object.entries(files).map(([path, value]) => [path, contentOf(value)])),
        writable: true,
      },
    },
  }
}

/** The outcome of the guest as that of its node. */
export function moduleEnd(node: ModuleNode, outcome: Outcome): Outcome {
  if (outcome.status !== 'completed') return outcome
  const { exitCode, stdout, stderr, files: written } = outcome.value as ModuleResult
  const said = new TextDecoder().decode(stderr)
  if (exitCode !== 0 && node.exit !== 'any') {
    const tail = said.trim().slice(-500)
    const message = `The module exited with ${exitCode}${tail === '' ? '.' : `: ${tail}`}`
    return failedOf(outcome, 'Exit', 'capability_failed', message)
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
    return failedOf(outcome, 'Output', error.code, error.message)
  }
}

/** It ended, and its node has failed. */
function failedOf(
  { engine, usage, logs, unhandledRejections, stateDigest, run, checkpoint, log }: Outcome,
  name: string,
  code: string,
  message: string,
): Outcome {
  return {
    status: 'failed',
    error: { name, code, message },
    engine,
    usage,
    logs,
    unhandledRejections,
    ...(stateDigest !== undefined && { stateDigest }),
    ...(run !== undefined && { run }),
    ...(checkpoint !== undefined && { checkpoint }),
    ...(log && { log }),
  }
}

function under(directory: string, path: string): string {
  return directory === '/' ? `/${path}` : `${directory}/${path}`
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : jsonOf(value)
}

function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'null'
  } catch {
    throw new CaissonError('value_refused', 'What a module is given is text, bytes, or what JSON can say.')
  }
}

function contentOf(value: unknown): string | Uint8Array {
  return value instanceof Uint8Array ? value : textOf(value)
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
