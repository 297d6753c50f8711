/**
 * Makes an instance of a component: goes through its definitions in their order and gives every index its meaning.
 *
 * Invariants
 * 1. Core modules are instantiated by the host's function alone (`LinkHost.instantiate`): that is where fuel, caps and
 *    suspension are.
 * 2. What a component gets is what its imports name, and nothing else: every one of them is asked for by its name.
 * 3. The number of instances that one component makes is bounded, however they are nested, and so is what is linked for
 *    them (`link-work.ts`).
 */
import { HandleTable, type LiveResource } from '../abi/resources.ts'
import type { FunctionType } from '../abi/wit-type.ts'
import type {
  CanonDefinition,
  CanonOptions,
  ComponentAst,
  Definition,
  NamedItem,
} from '../binary/component-ast.ts'
import { invalidComponent, unsupportedInComponent } from '../binary/component-error.ts'
import {
  type ComponentFunction,
  type CoreFunction,
  guestMemory,
  type InstanceState,
  type LinkedOptions,
  liftFunction,
  lowerFunction,
} from './component-function.ts'
import type { FaultDomain } from './fault-domain.ts'
import { type CoreExports, type LinkedInstance, type LinkedItem, LinkScope } from './link-scope.ts'
import { exportOf, functionTypeAt, linkDescribed, linkType, resourceAt } from './link-types.ts'

const MOST_INSTANCES = 1_000

/** `$root`: what is imported beside all interfaces. */
export const ROOT = '$root'

export interface LinkHost {
  readonly domain: FaultDomain
  /** Instantiates a core module, its start function included. `undefined`: only types are wanted. */
  instantiate(
    module: number,
    imports: Readonly<Record<string, Readonly<Record<string, unknown>>>>,
  ): CoreExports | undefined | Promise<CoreExports>
  /** A function that the outermost component imports. */
  func(path: string, name: string, type: FunctionType): ComponentFunction
  /** A resource that the outermost component imports. */
  resource(path: string, name: string): LiveResource
  /** Runs a destructor of the guest's, whether or not it is at work. */
  runDestructor(act: () => void): void
  /** Told of each component instance, and of each resource type, in the order in which they come to life. */
  handlesMade?(handles: HandleTable): void
  /** Told where a function of a component in it is called by another one. */
  nested?(): void
  resourceMade?(resource: LiveResource): void
}

/** @throws CaissonError `invalid_component`, `unsupported_feature`; what instantiating core modules throws */
export async function linkComponent(root: ComponentAst, host: LinkHost): Promise<LinkedInstance> {
  return new ComponentLinker(host).instantiate(root, undefined, undefined)
}

class ComponentLinker {
  readonly #host: LinkHost
  readonly #hostFunctions = new WeakSet<ComponentFunction>()
  #instances = 0

  constructor(host: LinkHost) {
    this.#host = host
  }

  /** @param args of a component in another one; undefined for the outermost */
  async instantiate(
    ast: ComponentAst,
    parent: LinkScope | undefined,
    args: LinkedInstance | undefined,
  ): Promise<LinkedInstance> {
    this.#count()
    const { domain } = this.#host
    const state: InstanceState = { handles: new HandleTable(), domain, mayLeave: true }
    this.#host.handlesMade?.(state.handles)
    const scope = new LinkScope(parent)
    const exports = new Map<string, LinkedItem>()
    for (const definition of ast.definitions) {
      const pending = this.#define(definition, scope, state, args, exports)
      if (pending !== undefined) await pending
    }
    return exports
  }

  #count(): void {
    this.#instances += 1
    if (this.#instances > MOST_INSTANCES)
      throw unsupportedInComponent(`more than ${MOST_INSTANCES} instances`)
  }

  #define(
    definition: Definition,
    scope: LinkScope,
    state: InstanceState,
    args: LinkedInstance | undefined,
    exports: Map<string, LinkedItem>,
  ): Promise<void> | undefined {
    switch (definition.kind) {
      case 'core module':
        scope.add('core module', definition.module)
        return
      case 'core instance':
        return this.#instantiateCore(definition.module, definition.args, scope)
      case 'core exports': {
        scope.work.take(definition.exports.length)
        const core: Record<string, unknown> = Object.create(null)
        for (const { name, sort, index } of definition.exports) core[name] = scope.get(sort, index)
        scope.add('core instance', core)
        return
      }
      case 'component':
        scope.add('component', { ast: definition.component, scope })
        return
      case 'instance': {
        const { ast, scope: parent } = scope.get('component', definition.component)
        const given = named(definition.args, scope)
        return this.instantiate(ast, parent, given).then((made) => scope.add('instance', made))
      }
      case 'exports':
        scope.add('instance', named(definition.exports, scope))
        return
      case 'alias':
        alias(definition, scope)
        return
      case 'type':
        scope.add(
          'type',
          linkType(scope, definition.type, (destructor) => this.#newResource(destructor, scope, state)),
        )
        return
      case 'canon':
        this.#canon(definition.canon, scope, state)
        return
      case 'import':
        scope.addLinked(this.#import(definition, scope, args))
        return
      case 'export': {
        const { name, item } = definition
        if (exports.has(name)) throw invalidComponent(`"${name}" is exported twice`)
        const linked = scope.linked(item.sort, item.index)
        if (linked.sort === 'type' && linked.item.kind === 'resource')
          nameResource(linked.item.resource, name)
        exports.set(name, linked)
        scope.addLinked(linked)
        return
      }
    }
  }

  async #instantiateCore(module: number, args: readonly NamedItem[], scope: LinkScope): Promise<void> {
    this.#count()
    scope.work.take(args.length)
    const imports: Record<string, CoreExports> = Object.create(null)
    for (const { name, index } of args) {
      if (name in imports) throw invalidComponent(`A core module is given "${name}" twice`)
      imports[name] = scope.get('core instance', index)
    }
    const exports = await this.#host.instantiate(scope.get('core module', module), imports)
    this.#host.domain.checkAlive()
    scope.add('core instance', exports ?? TYPES_ONLY)
  }

  #import(
    { name, is }: Definition & { readonly kind: 'import' },
    scope: LinkScope,
    args: LinkedInstance | undefined,
  ): LinkedItem {
    if (args !== undefined) return exportOf(args, name, is.sort)
    const by = (
      path: string,
    ): {
      func: (name: string, type: FunctionType) => LinkedItem
      resource: (name: string) => LiveResource
    } => ({
      func: (own, type) => {
        const item = this.#host.func(path, own, type)
        this.#hostFunctions.add(item)
        return { sort: 'func', item }
      },
      resource: (own) => this.#made(this.#host.resource(path, own)),
    })
    return linkDescribed(scope, is, by, ROOT, name)
  }

  #newResource(destructor: number | undefined, scope: LinkScope, state: InstanceState): LiveResource {
    const run = destructor === undefined ? undefined : scope.get('core func', destructor)
    return this.#made({
      name: 'resource',
      owner: state.handles,
      outside: { count: 0 },
      drop: (representation) => {
        if (run !== undefined) this.#host.runDestructor(() => run(representation))
      },
    })
  }

  #made(resource: LiveResource): LiveResource {
    this.#host.resourceMade?.(resource)
    return resource
  }

  #canon(canon: CanonDefinition, scope: LinkScope, state: InstanceState): void {
    switch (canon.kind) {
      case 'lift': {
        const options = linkOptions(canon.options, scope, state)
        const core = scope.get('core func', canon.coreFunction)
        scope.add('func', liftFunction(core, functionTypeAt(scope, canon.type), state, options))
        return
      }
      case 'lower': {
        const target = scope.get('func', canon.function)
        const options = linkOptions(canon.options, scope, state)
        const isOfHost = this.#hostFunctions.has(target)
        if (!isOfHost) this.#host.nested?.()
        scope.add('core func', lowerFunction(target, state, options, isOfHost))
        return
      }
      default:
        scope.add('core func', resourceFunction(canon.kind, resourceAt(scope, canon.resource), state))
    }
  }
}

/** Stands for the exports of core modules that were not instantiated. */
const TYPES_ONLY: CoreExports = Object.freeze(Object.create(null))
const NOTHING: CoreFunction = () => undefined

function nameResource(resource: LiveResource, name: string): void {
  if (resource.name === 'resource') Object.assign(resource, { name })
}

function named(items: readonly NamedItem[], scope: LinkScope): Map<string, LinkedItem> {
  scope.work.take(items.length)
  const linked = new Map<string, LinkedItem>()
  for (const { name, sort, index } of items) {
    if (linked.has(name)) throw invalidComponent(`"${name}" is given twice`)
    linked.set(name, scope.linked(sort, index))
  }
  return linked
}

function alias({ target }: Definition & { readonly kind: 'alias' }, scope: LinkScope): void {
  switch (target.kind) {
    case 'outer':
      scope.addLinked(scope.outer(target.count).linked(target.sort, target.index))
      return
    case 'export':
      scope.addLinked(exportOf(scope.get('instance', target.instance), target.name, target.sort))
      return
    case 'core export':
      scope.addLinked(coreExport(scope.get('core instance', target.instance), target.sort, target.name))
  }
}

function coreExport(exports: CoreExports, sort: string, name: string): LinkedItem {
  const item = exports === TYPES_ONLY ? TYPES_ONLY_ITEMS[sort] : exports[name]
  const right =
    (sort === 'core func' && typeof item === 'function') ||
    (sort === 'core memory' && item instanceof WebAssembly.Memory) ||
    (sort === 'core table' && item instanceof WebAssembly.Table) ||
    (sort === 'core global' && item instanceof WebAssembly.Global)
  if (!right) throw invalidComponent(`A core instance has no ${sort} "${name}"`)
  return { sort, item } as LinkedItem
}

const TYPES_ONLY_ITEMS: Readonly<Record<string, unknown>> = {
  'core func': NOTHING,
  get 'core memory'() {
    return new WebAssembly.Memory({ initial: 0 })
  },
  get 'core table'() {
    return new WebAssembly.Table({ initial: 0, element: 'anyfunc' })
  },
  get 'core global'() {
    return new WebAssembly.Global({ value: 'i32' }, 0)
  },
}

function linkOptions(options: CanonOptions, scope: LinkScope, state: InstanceState): LinkedOptions {
  const { encoding, memory, realloc, postReturn } = options
  const linked = memory === undefined ? undefined : scope.get('core memory', memory)
  const allocator = realloc === undefined ? undefined : scope.get('core func', realloc)
  return {
    encoding,
    memory: guestMemory(state, linked as WebAssembly.Memory | undefined, allocator),
    postReturn: postReturn === undefined ? undefined : scope.get('core func', postReturn),
  }
}

function resourceFunction(
  kind: 'resource.new' | 'resource.drop' | 'resource.rep',
  resource: LiveResource,
  state: InstanceState,
): CoreFunction {
  const { handles, domain } = state
  if (kind !== 'resource.drop' && resource.owner !== handles)
    throw invalidComponent('A component makes or opens resources of another one')
  const contained =
    (act: (value: number) => number | undefined, otherwise: number | undefined): CoreFunction =>
    (value) => {
      if (domain.over) return otherwise
      try {
        return act(value as number)
      } catch (error) {
        domain.fail(error)
        return otherwise
      }
    }
  switch (kind) {
    case 'resource.new':
      return contained((representation) => handles.add(resource, representation, true), 0)
    case 'resource.rep':
      return contained((index) => handles.representation(index >>> 0, resource) as number, 0)
    case 'resource.drop':
      return contained((index) => {
        handles.drop(index >>> 0, resource)
        return undefined
      }, undefined)
  }
}
