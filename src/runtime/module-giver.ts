/**
 * Whoever gives the modules of a program: the modules that the embedder gave with it, and its function for others.
 *
 * Invariants
 * 1. What the embedder gave is read once.
 * 2. The function is asked by a name within the root or a bare name, and waited for as long as for a call.
 * 3. What it threw stays with the host, unless it is an error that is meant for guests.
 */
import { CaissonError, type ErrorCode } from '../base/errors.ts'
import { type ImportProblem, importOf } from '../program/import-problem.ts'
import { asSpecifier } from '../program/specifier.ts'
import { givenModules } from './given-modules.ts'
import type { LoadModule, ModuleOptions, ModuleSource } from './module-options.ts'

/** For one load, milliseconds: as for a call of a capability. */
const LOAD_MS = 30_000
/** What a guest may be told of by the embedder's function. */
const TOLD: ReadonlySet<ErrorCode> = new Set([
  'not_found',
  'denied',
  'path_denied',
  'network_denied',
  'timeout',
  'aborted',
])

export interface ModuleGiverParts {
  /** Told what the embedder's function threw. */
  readonly report: (cause: unknown) => void
  /** Ends loads that are at work. */
  readonly signal: AbortSignal | undefined
}

export class ModuleGiver {
  /** Whether the embedder gives any. */
  readonly isOpen: boolean
  readonly #modules: ReadonlyMap<string, ModuleSource>
  readonly #load: LoadModule | undefined
  readonly #parts: ModuleGiverParts

  /** @throws CaissonError `invalid_argument` for modules that are none */
  constructor({ modules, loadModule }: ModuleOptions, parts: ModuleGiverParts) {
    this.#modules = givenModules(modules)
    this.#load = loadModule
    this.#parts = parts
    this.isOpen = modules !== undefined || loadModule !== undefined
  }

  /** Whether it was given with the program. */
  has(name: string): boolean {
    return this.#modules.has(name)
  }

  /** @returns undefined where there is none; a text of what is wrong where it could not be had */
  async ask(
    name: string,
    specifier: string,
    referrer: string,
  ): Promise<ModuleSource | ImportProblem | undefined> {
    const here = this.#modules.get(name)
    if (here !== undefined || this.#load === undefined) return here
    try {
      const load = this.#load
      const from = { specifier, referrer: asSpecifier(referrer) }
      return checkedSource(await settledInTime(async () => load(asSpecifier(name), from), this.#parts.signal))
    } catch (cause) {
      const what = importOf(specifier, referrer)
      if (CaissonError.is(cause) && TOLD.has(cause.code)) {
        return { code: cause.code, message: `${what}: ${cause.message}` }
      }
      this.#parts.report(cause)
      return { code: 'capability_failed', message: `${what} failed: the host could not load it.` }
    }
  }
}

/** @throws CaissonError `timeout`, `aborted`, what `load` throws */
async function settledInTime<T>(load: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  let onAbort = (): void => {}
  const givenUp = new Promise<never>((_, reject) => {
    onAbort = () => reject(new CaissonError('aborted', 'The run was aborted.'))
    timer = setTimeout(
      () => reject(new CaissonError('timeout', `A module did not come within ${LOAD_MS} ms.`)),
      LOAD_MS,
    )
    signal?.addEventListener('abort', onAbort, { once: true })
    if (signal?.aborted === true) onAbort()
  })
  try {
    return await Promise.race([load(), givenUp])
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', onAbort)
  }
}

function checkedSource(given: unknown): ModuleSource | undefined {
  if (given === undefined || given === null) return undefined
  if (typeof given === 'string') return { source: given }
  const { source, type } = given as Partial<Record<keyof ModuleSource, unknown>>
  if (typeof source === 'string' && (type === undefined || type === 'js' || type === 'json')) {
    return { source, ...(type && { type }) }
  }
  throw new CaissonError(
    'invalid_argument',
    'A module is a text, or { source, type } with type "js" or "json".',
  )
}
