/** What a node that is WebAssembly finds of WASI, out of its recorded input, and what of it stands in its output. */
import { CaissonError } from '../../base/errors.ts'
import { clipText } from '../../base/escape-text.ts'
import type { ModuleResult } from '../../component/module/module-end.ts'
import type { BytesForm, NodeWasi } from '../../graph/plan/plan.ts'
import type { Outcome } from '../outcome.ts'
import type { RunModuleOptions } from '../wasi/module-options.ts'

/** What `inputOf` of its kind gives. */
export interface WorldInput {
  readonly args: readonly unknown[]
  readonly env: Readonly<Record<string, unknown>>
  readonly stdin: unknown
  readonly files: Readonly<Record<string, unknown>>
}

/** What its node says of the output. */
type NodeOutput = Pick<NodeWasi, 'directory' | 'writes' | 'stdout' | 'exit'>

/**
 * @param directory where it finds its files; undefined: nowhere
 * @throws CaissonError `value_refused` for what is neither text, nor bytes, nor JSON
 */
export function nodeWorld(
  { args, env, stdin, files }: WorldInput,
  directory: string | undefined,
): Required<Pick<RunModuleOptions, 'args' | 'env' | 'directories'>> & Pick<RunModuleOptions, 'stdin'> {
  const contents = Object.entries(files).map(([path, value]) => [path, contentOf(value)])
  return {
    args: args.map(textOf),
    env: Object.fromEntries(Object.entries(env).map(([name, value]) => [name, textOf(value)])),
    ...(stdin !== null && { stdin: contentOf(stdin) }),
    directories:
      directory === undefined ? {} : { [directory]: { files: Object.fromEntries(contents), writable: true } },
  }
}

/**
 * The outcome of the guest as that of its node.
 * @param words for the guest: `module`
 * @param more what stands in the output beside
 */
export function writtenEnd(
  outcome: Extract<Outcome, { readonly status: 'completed' }>,
  { exitCode, stdout, stderr, files: written }: ModuleResult,
  node: NodeOutput,
  words: string,
  more: Readonly<Record<string, unknown>> = {},
): Outcome {
  const said = new TextDecoder().decode(stderr)
  if (exitCode !== 0 && node.exit !== 'any') {
    const tail = said.trim().slice(-500)
    const message = `The ${words} exited with ${exitCode}${tail === '' ? '.' : `: ${tail}`}`
    return failedOf(outcome, 'Exit', 'capability_failed', message)
  }
  try {
    const all = Object.entries(node.writes ?? {}).map(([path, form]) => [
      path,
      formOf(written[under(node.directory ?? '/', path)], form, path, words),
    ])
    const value = {
      exitCode,
      ...more,
      stdout: formOf(stdout, node.stdout ?? 'text', 'standard output', words),
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
    throw new CaissonError('value_refused', 'What a guest is given is text, bytes, or what JSON can say.')
  }
}

function contentOf(value: unknown): string | Uint8Array {
  return value instanceof Uint8Array ? value : textOf(value)
}

function formOf(bytes: Uint8Array | undefined, form: BytesForm, what: string, words: string): unknown {
  const shown = clipText(what, 200)
  if (bytes === undefined) throw new CaissonError('invalid_result', `The ${words} has not written ${shown}.`)
  if (form === 'bytes') return bytes
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return form === 'text' ? text : (JSON.parse(text) as unknown)
  } catch {
    throw new CaissonError('invalid_result', `What the ${words} gave as ${shown} is no ${form}.`)
  }
}
