/**
 * The index spaces of one component instance while it is linked, and of types that are declared in one another.
 *
 * Every index is the component's word: one that leads nowhere is `invalid_component`.
 */
import type { LiveResource } from '../abi/resources.ts'
import type { FunctionType, WitType } from '../abi/wit-type.ts'
import type { ComponentAst, Declaration, Sort } from '../binary/component-ast.ts'
import { invalidComponent } from '../binary/component-error.ts'
import type { ComponentFunction, CoreFunction } from './component-function.ts'
import { LinkWork } from './link-work.ts'

export type LinkedType =
  | { readonly kind: 'value'; readonly type: WitType }
  | { readonly kind: 'func'; readonly type: FunctionType }
  | { readonly kind: 'resource'; readonly resource: LiveResource }
  | {
      readonly kind: 'instance' | 'component'
      readonly declarations: readonly Declaration[]
      readonly scope: LinkScope
    }

/** An instance of a component: its exports. */
export type LinkedInstance = ReadonlyMap<string, LinkedItem>

export type CoreExports = Readonly<Record<string, unknown>>

interface Items {
  readonly 'core func': CoreFunction
  readonly 'core table': unknown
  readonly 'core memory': unknown
  readonly 'core global': unknown
  readonly 'core module': number
  readonly 'core instance': CoreExports
  readonly func: ComponentFunction
  readonly type: LinkedType
  readonly component: { readonly ast: ComponentAst; readonly scope: LinkScope }
  readonly instance: LinkedInstance
}

export type LinkedItem = { [S in Sort]: { readonly sort: S; readonly item: Items[S] } }[Sort]

export class LinkScope {
  readonly parent: LinkScope | undefined
  /** Shared by all scopes of one component. */
  readonly work: LinkWork
  readonly #spaces: { readonly [S in Sort]: Items[S][] } = {
    'core func': [],
    'core table': [],
    'core memory': [],
    'core global': [],
    'core module': [],
    'core instance': [],
    func: [],
    type: [],
    component: [],
    instance: [],
  }

  constructor(parent: LinkScope | undefined) {
    this.parent = parent
    this.work = parent?.work ?? new LinkWork()
  }

  /** @throws CaissonError `unsupported_feature` */
  add<S extends Sort>(sort: S, item: Items[S]): void {
    this.work.take(1)
    this.#spaces[sort].push(item)
  }

  addLinked(linked: LinkedItem): void {
    this.add(linked.sort, linked.item as never)
  }

  /** @throws CaissonError `invalid_component` */
  get<S extends Sort>(sort: S, index: number): Items[S] {
    const space = this.#spaces[sort]
    if (index >= space.length) throw invalidComponent(`There is no ${sort} ${index}`)
    return space[index] as Items[S]
  }

  linked(sort: Sort, index: number): LinkedItem {
    return { sort, item: this.get(sort, index) } as LinkedItem
  }

  /** @throws CaissonError `invalid_component` */
  outer(count: number): LinkScope {
    if (count === 0) return this
    if (this.parent === undefined) throw invalidComponent('An alias leads out of the component')
    return this.parent.outer(count - 1)
  }
}
