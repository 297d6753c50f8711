/** Whether a component can leave its stack where it waits: found by linking it without running anything. */
import { CaissonError } from '../base/errors.ts'
import { clipText } from '../base/escape-text.ts'
import type { ComponentAst } from './binary/component-ast.ts'
import type { CoreExport } from './core/core-manifest.ts'
import { type LinkedCore, Reentry } from './core/reentry.ts'
import { FaultDomain } from './link/fault-domain.ts'
import { linkComponent } from './link/link-component.ts'
import type { CoreExports } from './link/link-scope.ts'

const NO_VALUES = { bytes: 0, nodes: 0 }
/** Functions and imports of all instances together: as many as an instance of the component may have. */
const MOST_ITEMS = 1_000_000

/** What stands in the way of frames that could be unwound. */
export interface FramesBetween {
  /** Another of its core modules may call the one that waits. */
  readonly problem: CaissonError | undefined
  /** A component in it calls another one: frames of the host stand between them. */
  readonly isNested: boolean
}

/** @param cores in the order of `ParsedComponent.modules` */
export async function framesBetween(
  root: ComponentAst,
  cores: readonly LinkedCore[],
): Promise<FramesBetween> {
  const reentry = new Reentry()
  const placeholders = cores.map((core) => new Placeholders(core))
  let isNested = false
  let items = 0
  await linkComponent(root, {
    domain: new FaultDomain(NO_VALUES, () => {}),
    instantiate(module, given) {
      const core = cores[module]
      if (core === undefined) return undefined
      items += core.functions + core.imports.length
      if (items > MOST_ITEMS) return undefined
      reentry.link(core, given)
      const exports = (placeholders[module] as Placeholders).ofInstance()
      reentry.made(core, exports)
      return exports
    },
    func: (_path, _name, type) => ({ type, call: () => undefined }),
    resource: (_path, name) => ({ name, owner: undefined, drop: () => {} }),
    runDestructor: () => {},
    nested: () => {
      isNested = true
    },
  })
  const isKnown = items <= MOST_ITEMS
  if (isKnown && !reentry.isHidden && reentry.names.length === 0) return { problem: undefined, isNested }
  const how = !isKnown || reentry.isHidden ? 'through a table' : `by ${reentry.names.slice(0, 10).join(', ')}`
  const problem = new CaissonError(
    'unsupported',
    clipText(
      `The component cannot leave its stack to wait: another of its modules calls the one that waits, ${how}.`,
      2_000,
    ),
    { details: { imports: [] } },
  )
  return { problem, isNested }
}

/** As `framesBetween`. @returns why the component cannot be unwound where it waits; undefined where it can */
export async function unwindProblem(component: {
  readonly parsed: { readonly root: ComponentAst }
  readonly cores: readonly { readonly manifest: LinkedCore }[]
}): Promise<CaissonError | undefined> {
  const cores = component.cores.map(({ manifest }) => manifest)
  if (cores.length < 2 || !cores.some(({ suspends }) => suspends.length > 0)) return undefined
  return (await framesBetween(component.parsed.root, cores)).problem
}

/** Something of the right kind for each export of a module, made when it is asked for. */
class Placeholders {
  readonly #kinds: ReadonlyMap<string, CoreExport['kind']>

  constructor({ exports }: LinkedCore) {
    this.#kinds = new Map(exports.map(({ name, kind }) => [name, kind]))
  }

  ofInstance(): CoreExports {
    const made = new Map<string, unknown>()
    const of = (name: string): unknown => {
      const kind = this.#kinds.get(name)
      if (kind === undefined || kind === 'tag') return undefined
      // Whoever shares one table, or memory, shares them all.
      const key = kind === 'table' || kind === 'memory' ? kind : name
      if (!made.has(key)) made.set(key, NEW[kind]())
      return made.get(key)
    }
    return new Proxy(Object.create(null) as CoreExports, {
      get: (_, name) => (typeof name === 'string' ? of(name) : undefined),
    })
  }
}

const NEW = {
  memory: (): unknown => new WebAssembly.Memory({ initial: 0 }),
  function: (): unknown => () => undefined,
  table: (): unknown => new WebAssembly.Table({ initial: 0, element: 'anyfunc' }),
  global: (): unknown => new WebAssembly.Global({ value: 'i32' }, 0),
} as const
