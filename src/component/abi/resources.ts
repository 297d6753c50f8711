/**
 * Handles: what a guest has in the place of a resource.
 *
 * Invariants
 * 1. A handle is an index into the table of one component instance, with its type. A number that is none, of another
 *    type, or dropped before, is a `GuestFault`.
 * 2. An own handle leaves its table when it is passed on or dropped, and neither while it is lent.
 * 3. A borrowed handle that a call was given is dropped by the guest before the call returns.
 * 4. A table holds at most `MOST_HANDLES` handles, whatever the guest makes.
 */
import { DISPOSE } from '../../base/disposal.ts'
import { CaissonError } from '../../base/errors.ts'
import { GuestFault } from './guest-memory.ts'
import type { ResourceType } from './wit-type.ts'

const MOST_HANDLES = 100_000

/** A resource type that has come to life: with who made it and what ends one of its kind. */
export interface LiveResource extends ResourceType {
  /** The table of the instance that defines it; undefined for resources of the host. */
  readonly owner: HandleTable | undefined
  /** Ends one, by its representation. */
  readonly drop: (representation: unknown) => void
  /** Of those that a guest made: how many of them the embedder holds. */
  readonly outside?: { count: number }
}

/**
 * A resource that a guest made and that somebody else holds. Embedders get it from a call, hand it on in arguments, and
 * dispose it. It is worth nothing to another instance, and a borrowed one nothing after the call that lent it.
 */
export class GuestResource {
  readonly #resource: LiveResource
  #representation: unknown
  #gone = false
  readonly #borrowed: boolean

  constructor(resource: LiveResource, representation: unknown, scope?: BorrowScope) {
    this.#resource = resource
    this.#representation = representation
    this.#borrowed = scope !== undefined
    if (scope === undefined && resource.outside !== undefined) resource.outside.count += 1
    scope?.atEnd(() => this.#forget())
  }

  /** Its name in WIT. */
  get name(): string {
    return this.#resource.name
  }

  /** Why a value cannot be handed over as such a resource; undefined where it can. */
  static problem(value: object, resource: LiveResource, as: 'own' | 'borrow'): string | undefined {
    if (!(#resource in value) || value.#resource !== resource) return 'is none of this instance'
    if (value.#gone) return 'was given away or dropped before'
    return as === 'own' && value.#borrowed ? 'is only borrowed' : undefined
  }

  /** What the guest made of it. Of a value that was checked: see `problem`. */
  static borrow(value: unknown, resource: LiveResource): unknown {
    return GuestResource.#of(value, resource, 'borrow').#representation
  }

  /** As `borrow`; nothing of it is left with who gave it. */
  static take(value: unknown, resource: LiveResource): unknown {
    const taken = GuestResource.#of(value, resource, 'own')
    const representation = taken.#representation
    taken.#forget()
    return representation
  }

  static #of(value: unknown, resource: LiveResource, as: 'own' | 'borrow'): GuestResource {
    const problem = GuestResource.problem(value as object, resource, as)
    if (problem !== undefined) throw new GuestFault(`A resource "${resource.name}" ${problem}.`)
    return value as GuestResource
  }

  static {
    // Not written as a method: the declaration of one whose key is a constant has to be inferred.
    Object.defineProperty(GuestResource.prototype, DISPOSE, { value: GuestResource.prototype.dispose })
  }

  /** Runs its destructor in the guest. A second time does nothing. Also at the key of `using`. */
  dispose(): void {
    if (this.#gone || this.#borrowed) return
    const representation = this.#representation
    this.#forget()
    this.#resource.drop(representation)
  }

  #forget(): void {
    const { outside } = this.#resource
    if (!this.#gone && !this.#borrowed && outside !== undefined) outside.count -= 1
    this.#gone = true
    this.#representation = undefined
  }
}

interface Handle {
  readonly resource: LiveResource
  readonly representation: unknown
  readonly own: boolean
  /** Of a borrowed one: the call that lent it to the guest. */
  readonly scope: BorrowScope | undefined
  lent: number
}

/** A handle as data: which type, in the order in which types came to life, and what the guest or the host calls it. */
export interface HandleState {
  readonly type: number
  readonly of: 'guest' | 'wasi'
  readonly id: number
}

export interface HandleTableState {
  readonly slots: readonly (HandleState | null)[]
  /** Places that are used again, the last one first. */
  readonly free: readonly number[]
}

function contradicts(): CaissonError {
  return new CaissonError('corrupted', 'The handles of a captured component contradict themselves.')
}

/** What one call lends, and has lent to it. */
export class BorrowScope {
  /** Borrowed handles in the callee's table that are not dropped yet. */
  open = 0
  #lent: Handle[] | undefined
  #atEnd: (() => void)[] | undefined

  atEnd(act: () => void): void {
    this.#atEnd ??= []
    this.#atEnd.push(act)
  }

  lend(handle: Handle): void {
    handle.lent += 1
    this.#lent ??= []
    this.#lent.push(handle)
  }

  /** @throws GuestFault if the callee kept a borrowed handle */
  end(): void {
    for (const handle of this.#lent ?? []) handle.lent -= 1
    for (const act of this.#atEnd ?? []) act()
    this.#lent = undefined
    this.#atEnd = undefined
    if (this.open > 0) throw new GuestFault('The guest kept a borrowed handle after the end of its call.')
  }
}

export class HandleTable {
  readonly #handles: (Handle | undefined)[] = [undefined]
  readonly #free: number[] = []

  get size(): number {
    return this.#handles.length - 1 - this.#free.length
  }

  add(resource: LiveResource, representation: unknown, own: boolean, scope?: BorrowScope): number {
    const index = this.#free.pop() ?? this.#handles.length
    if (index > MOST_HANDLES) throw new GuestFault(`The guest holds more than ${MOST_HANDLES} handles.`)
    if (scope !== undefined) scope.open += 1
    this.#handles[index] = { resource, representation, own, scope, lent: 0 }
    return index
  }

  #get(index: number, resource: LiveResource): Handle {
    const handle = this.#handles[index]
    if (handle === undefined) throw new GuestFault(`The guest used a handle that is none (${index}).`)
    if (handle.resource !== resource)
      throw new GuestFault(`The guest used a handle of another type as a "${resource.name}".`)
    return handle
  }

  /** What stands behind an own or borrowed handle, lent for the time of a call. */
  lend(index: number, resource: LiveResource, scope: BorrowScope): unknown {
    const handle = this.#get(index, resource)
    if (handle.own) scope.lend(handle)
    return handle.representation
  }

  representation(index: number, resource: LiveResource): unknown {
    return this.#get(index, resource).representation
  }

  /** Takes an own handle out. */
  takeOwn(index: number, resource: LiveResource): unknown {
    const handle = this.#get(index, resource)
    if (!handle.own) throw new GuestFault('The guest gave away a handle that it only borrowed.')
    return this.#remove(index, handle)
  }

  /** Drops a handle; ends the resource if it was the guest's own. */
  drop(index: number, resource: LiveResource): void {
    const handle = this.#get(index, resource)
    this.#remove(index, handle)
    if (handle.own) resource.drop(handle.representation)
    else if (handle.scope !== undefined) handle.scope.open -= 1
  }

  #remove(index: number, handle: Handle): unknown {
    if (handle.lent > 0) throw new GuestFault('The guest gave away or dropped a handle that is lent.')
    this.#handles[index] = undefined
    this.#free.push(index)
    return handle.representation
  }

  /**
   * The table as data.
   * @param write what stands for a resource type, and for a representation
   * @throws CaissonError `unsupported` for handles that belong to a call
   */
  capture(write: (resource: LiveResource, representation: unknown) => HandleState): HandleTableState {
    const slots = this.#handles.slice(1).map((handle) => {
      if (handle === undefined) return null
      const { resource, representation, own, lent } = handle
      if (own && lent === 0) return write(resource, representation)
      throw new CaissonError(
        'unsupported',
        `The component cannot be captured: it is inside of a call that was lent a "${resource.name}".`,
        { details: { obstacle: resource.name } },
      )
    })
    return { slots, free: [...this.#free] }
  }

  /**
   * Puts a captured table into this one.
   * @throws CaissonError `corrupted`; what `read` throws
   */
  restore(
    state: unknown,
    read: (held: unknown) => { readonly resource: LiveResource; readonly representation: unknown },
  ): void {
    const { slots, free } = (state ?? {}) as Partial<HandleTableState>
    if (!Array.isArray(slots) || !Array.isArray(free) || slots.length > MOST_HANDLES) throw contradicts()
    const places = new Set(free as readonly unknown[])
    const areFree = slots.every((slot, at) => (slot === null) === places.has(at + 1))
    const empty = slots.filter((slot) => slot === null).length
    if (!areFree || places.size !== free.length || free.length !== empty) throw contradicts()
    this.#handles.length = 1
    for (const slot of slots as readonly unknown[])
      this.#handles.push(slot === null ? undefined : { ...read(slot), own: true, scope: undefined, lent: 0 })
    this.#free.length = 0
    for (const place of free as readonly number[]) this.#free.push(place)
  }

  /** Ends everything that the guest still owns of the host's. @throws the first of what that throws, after all of it */
  dispose(): void {
    const failures: unknown[] = []
    for (const handle of this.#handles.splice(1)) {
      if (handle?.own !== true || handle.resource.owner !== undefined) continue
      try {
        handle.resource.drop(handle.representation)
      } catch (error) {
        failures.push(error)
      }
    }
    this.#free.length = 0
    if (failures.length > 0) throw failures[0]
  }
}
