/**
 * The modules that a program consists of, as data: what crosses to a Worker, and what a kept run writes down.
 *
 * Everything was resolved by the host before: a machine looks up names, and resolves nothing.
 */
import { CaissonError } from '../base/errors.ts'

/** What a module imports: the specifier as its author wrote it, and the name of the module that it stands for. */
export type ModuleImport = readonly [specifier: string, name: string]

/** One module as the engine gets it. */
export interface ModuleFile {
  /** Unique in its graph, and what stacks show: the path from the root, or `package:` and a bare specifier. */
  readonly name: string
  /** JavaScript. */
  readonly code: string
  readonly imports: readonly ModuleImport[]
  /** Where places in `code` come from (`program/original-place.ts`); left out where its author wrote it. */
  readonly places?: readonly number[]
}

/** A `GuestError` of the host's own making. */
export interface ModuleProblem {
  readonly name: string
  readonly message: string
  readonly code?: string
  readonly stack?: string
  readonly position?: { readonly file: string; readonly line: number; readonly column: number }
}

/** Everything that a program imports statically. */
export interface ModuleGraph {
  /** Of the program itself. */
  readonly imports: readonly ModuleImport[]
  /** Each after what it imports, where no cycle keeps it from that. The program is not among them. */
  readonly files: readonly ModuleFile[]
  /** Why there is no such graph: the program ends with it, before any of it runs. */
  readonly problem?: ModuleProblem
}

/**
 * The capability by which a guest asks for modules while it runs. It is granted with the modules, and no global.
 * Asked with `ModuleRequest`, answered with `ModuleAnswer`.
 */
export const LOAD_MODULE = 'caisson.loadModule'

export interface ModuleRequest {
  readonly specifier: string
  /** Name of the module, or of the program, that imports it. */
  readonly referrer: string
}

export interface ModuleAnswer {
  /** Of the module that was asked for. */
  readonly name: string
  /** It, and what it imports: each after what it imports. Modules that the guest has may be left out. */
  readonly files: readonly ModuleFile[]
}

/** Bounds on what one program may consist of. */
export const MODULE_BOUNDS = {
  /** Modules of one graph. */
  modules: 2_048,
  /** UTF-16 units of all sources of one graph. */
  sourceBytes: 67_108_864,
  /** Imports of all modules of one graph together. */
  imports: 100_000,
  /** UTF-16 units of a specifier or a name. */
  specifier: 1_024,
} as const

/** @throws CaissonError `invalid_result` unless it is a `ModuleAnswer` within the bounds */
export function parseModuleAnswer(value: unknown): ModuleAnswer {
  if (isRecord(value) && isName(value.name) && isFiles(value.files)) return value as unknown as ModuleAnswer
  throw new CaissonError('invalid_result', 'The answer to an import is no list of modules.')
}

/** Whether `value` can be the modules of a program. */
export function isModuleGraph(value: unknown): boolean {
  return isRecord(value) && isImports(value.imports) && isFiles(value.files)
}

function isFiles(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.length <= MODULE_BOUNDS.modules &&
    everyOf(
      value,
      (file) =>
        isRecord(file) &&
        isName(file.name) &&
        typeof file.code === 'string' &&
        isImports(file.imports) &&
        (file.places === undefined || isPlaces(file.places)),
    )
  )
}

function isImports(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.length <= MODULE_BOUNDS.imports &&
    everyOf(
      value,
      (one) => Array.isArray(one) && one.length === 2 && typeof one[0] === 'string' && isName(one[1]),
    )
  )
}

function isPlaces(value: unknown): boolean {
  return Array.isArray(value) && everyOf(value, (one) => typeof one === 'number')
}

function isName(value: unknown): boolean {
  return typeof value === 'string' && value.length <= 2 * MODULE_BOUNDS.specifier && !value.includes('\0')
}

/** Holes too, which `every` passes over. */
function everyOf(list: readonly unknown[], holds: (one: unknown) => boolean): boolean {
  for (let i = 0; i < list.length; i += 1) if (!holds(list[i])) return false
  return true
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
