/**
 * `--tools MODULE`: a module of the person at the keyboard, whose default export is a list of capabilities.
 *
 * It is host code with all rights of this process, as any program that a person starts. Only the guest is confined.
 */
import { stat } from 'node:fs/promises'
import { isAbsolute, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { CaissonError } from '../../base/errors.ts'
import { clipText } from '../../base/escape-text.ts'
import type { Capability } from '../../capability/capability.ts'
import { createCapabilityTable } from '../../capability/capability-table.ts'
import { CliError } from '../cli-error.ts'
import { EXIT } from '../exit-code.ts'

export interface Tools {
  readonly capabilities: readonly Capability[]
  /** Where the module stands. */
  readonly path: string
}

/** @throws CliError usage where there is no such file, refused input where it is no list of capabilities */
export async function loadTools(module: string, cwd: string): Promise<Tools> {
  const path = isAbsolute(module) ? module : resolve(cwd, module)
  await requireFile(module, path)
  const exported = await importDefault(module, path)
  if (!Array.isArray(exported)) {
    throw refused(
      module,
      exported === undefined ? 'has no default export' : 'has a default export that is no list',
    )
  }
  try {
    createCapabilityTable(exported as Capability[])
  } catch (error) {
    if (CaissonError.is(error)) throw refused(module, `cannot be used. ${error.message}`, error)
    throw error
  }
  return { capabilities: exported as Capability[], path }
}

async function requireFile(module: string, path: string): Promise<void> {
  const found = await stat(path).catch((error: unknown) => error)
  if (found instanceof Error || !(found as { isFile(): boolean }).isFile()) {
    throw new CliError({
      exit: EXIT.usage,
      code: 'usage',
      message: `--tools: there is no file "${clipText(module, 200)}".`,
      hint: 'Name a module, for example --tools ./tools.js; its default export is a list of capabilities.',
    })
  }
}

async function importDefault(module: string, path: string): Promise<unknown> {
  try {
    const loaded = (await import(pathToFileURL(path).href)) as { default?: unknown }
    return await loaded.default
  } catch (error) {
    const typescript = /\.[mc]?ts$/.test(path)
      ? ' Node loads TypeScript with `node --import tsx`, or build it first.'
      : ''
    const { name, message } = error instanceof Error ? error : new Error(String(error))
    const problem = `failed while it loaded: ${name}: ${clipText(message, 2_000)}.${typescript}`
    throw refused(module, problem, error, hintFor(error))
  }
}

const INSTALL_HINT =
  'Install caisson in the folder of the tools, from the file that npm pack makes (see the README). Tools inside the folder of the package itself find it as it is.'

const MODULE_HINT =
  'Node reads it as CommonJS: name it .mjs, or put "type": "module" into the package.json beside it.'

function hintFor(error: unknown): string | undefined {
  if (lacksPackage(error)) return INSTALL_HINT
  return isReadAsCommonJs(error) ? MODULE_HINT : undefined
}

/** Whether Node took a module for CommonJS, as `npm init` makes it do. */
function isReadAsCommonJs(error: unknown): boolean {
  return (
    error instanceof SyntaxError &&
    /^(?:Cannot use import statement outside a module|Unexpected token 'export')/.test(error.message)
  )
}

/** Whether what Node did not find is this package: it looks from where the module stands, not from here. */
function lacksPackage(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { code } = error as NodeJS.ErrnoException
  return (
    (code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND') &&
    /^Cannot find (?:package|module) 'caisson(?:\/[\w./-]*)?'/.test(error.message)
  )
}

function refused(module: string, problem: string, cause?: unknown, hint?: string): CliError {
  return new CliError({
    exit: EXIT.refusedInput,
    code: 'invalid_capability',
    message: `--tools: "${clipText(module, 200)}" ${problem}`.replace(/[^.!?]$/, '$&.'),
    hint:
      hint ?? 'A tools module ends with: export default [capability({ name, description, effect, invoke })]',
    cause,
  })
}
