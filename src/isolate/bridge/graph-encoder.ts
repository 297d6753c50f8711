/**
 * Encodes values that are no plain trees as tables for the builder of `BRIDGE_SOURCE`: sharing, cycles, deep
 * nesting, Map, Set, RegExp, Error, DataView, arrays with holes or extra properties.
 *
 * Whatever is a plain tree inside such a value stays one: it is decoded natively where it hangs, and only what
 * needs a number gets one.
 *
 * Invariants
 * 1. It reads fresh copies that `walkValue` made, never the caller's value: nothing here can run code of the
 *    host, and everything was counted.
 * 2. No recursion deeper than `MAX_TREE_DEPTH`.
 */
import type { GuestFailure } from '../../machine/turn.ts'
import { errorParts } from '../../values/error-value.ts'
import { boxedPrimitive, dateTime, regExpParts, VIEW_TYPES, viewParts } from '../../values/object-parts.ts'
import { type ContainerKind, kindOf, type ValueKind } from '../../values/value-kind.ts'
import { type Holder, placePath } from '../../values/value-path.ts'
import { BUILD, VIEW_ORDER } from './bridge-source.ts'
import type { BytecodeBuffer } from './bytecode-buffer.ts'
import { MAX_TREE_DEPTH } from './tree-encoder.ts'

/** An object of the value. */
interface Node {
  readonly object: object
  readonly kind: ValueKind
  readonly parent: Node | undefined
  /** Its place in `parent`, as `placePath` wants it. */
  readonly key: string | number
  references: number
  /** How the builder makes it; undefined where the native decoder does. */
  build: number | undefined
  /** Whether it is part of its parent's encoding. */
  inline: boolean
  /** Containers on the longest way down through inline ones. */
  height: number
  number: number
  /** Number of its parts. */
  parts: number
}

const entriesOf = Map.prototype.forEach
const itemsOf = Set.prototype.forEach

/** Appends the table for `copy`, a container that `walkValue` copied. */
export class GraphEncoder {
  readonly #out: BytecodeBuffer
  readonly #nodes: Node[] = []
  readonly #index = new Map<object, Node>()
  /** Triples of `X`: target, key, value. */
  readonly #patches: (number | string)[] = []

  constructor(out: BytecodeBuffer) {
    this.#out = out
  }

  encode(copy: object): void {
    this.#collect(copy)
    this.#decideInline()
    this.#emit()
  }

  /** Path of the node that the builder calls `number`, for messages. */
  path(number: number, root: string): string {
    const node = this.#nodes.find((candidate) => !candidate.inline && candidate.number === number)
    return node === undefined ? root : placePath(root, holderOf(node.parent), node.key)
  }

  #collect(root: object): void {
    this.#meet(root, undefined, '')
    for (let i = 0; i < this.#nodes.length; i += 1) {
      const node = this.#nodes[i] as Node
      eachPart(node, (value, key) => {
        if (typeof value === 'object' && value !== null) this.#meet(value, node, key)
      })
    }
  }

  #meet(object: object, parent: Node | undefined, key: string | number): void {
    const known = this.#index.get(object)
    if (known !== undefined) {
      known.references += 1
      return
    }
    // `walkValue` made it, so it is of a kind that crosses.
    const kind = kindOf(object) as ValueKind
    const node: Node = {
      object,
      kind,
      parent,
      key,
      references: 1,
      build: undefined,
      inline: false,
      height: 1,
      number: -1,
      parts: -1,
    }
    this.#index.set(object, node)
    this.#nodes.push(node)
  }

  /** From the leaves up: every node stands behind its first parent in the list. */
  #decideInline(): void {
    for (let i = this.#nodes.length - 1; i >= 0; i -= 1) {
      const node = this.#nodes[i] as Node
      let pure = true
      eachPart(node, (value) => {
        if (typeof value !== 'object' || value === null) return
        const part = this.#index.get(value) as Node
        if (!part.inline) pure = false
        else if (part.height >= node.height) node.height = part.height + 1
      })
      node.build = howToBuild(node, pure)
      node.inline =
        i > 0 && pure && node.build === undefined && node.references === 1 && node.height < MAX_TREE_DEPTH
      if (node.build === BUILD.view) this.#separate((node.object as DataView).buffer)
    }
  }

  /** Gives a buffer a number of its own, because the builder must find it. It stands behind its view. */
  #separate(buffer: object): void {
    const node = this.#index.get(buffer) as Node
    node.inline = false
  }

  #emit(): void {
    const out = this.#out
    const numbered = this.#nodes.filter((node) => !node.inline)
    const built = numbered.filter((node) => node.build !== undefined)
    numbered.forEach((node, i) => {
      node.number = i
    })
    built.forEach((node, i) => {
      node.parts = numbered.length + i
    })
    out.array(5)
    out.array(numbered.length + built.length)
    for (const node of numbered) {
      if (node.build === undefined) this.#native(node, node.number)
      else out.undefined()
    }
    for (const node of built) this.#parts(node)
    out.array(built.length * 3)
    for (const node of built) {
      out.number(node.number)
      out.number(node.build as number)
      out.number(node.parts)
    }
    out.array(this.#patches.length)
    for (const part of this.#patches) {
      if (typeof part === 'number') out.number(part)
      else out.string(part)
    }
    out.number(-1)
    out.number(0)
  }

  /** An object that the native decoder makes. `owner` is the number of the nearest numbered node. */
  #native(node: Node, owner: number): void {
    const out = this.#out
    switch (node.kind) {
      case 'object': {
        const source = node.object as Record<string, unknown>
        const keys = Object.keys(source)
        out.object(keys.length)
        for (const key of keys) {
          out.name(key)
          this.#slot(source[key], owner, key)
        }
        return
      }
      case 'array': {
        const source = node.object as unknown[]
        out.array(source.length)
        for (let i = 0; i < source.length; i += 1) this.#slot(source[i], owner, i)
        return
      }
      case 'date':
        out.date(dateTime(node.object))
        return
      case 'boxed':
        out.boxed()
        this.#primitive(boxedPrimitive(node.object))
        return
      case 'view': {
        const { buffer, byteOffset, byteLength, type } = viewParts(node.object)
        out.typedArray(viewPosition(type), byteLength / elementBytes(type), byteOffset)
        out.buffer(new Uint8Array(buffer))
        return
      }
      default:
        out.buffer(new Uint8Array(node.object as ArrayBuffer))
    }
  }

  /** A part of the numbered object `owner`: in place, or a placeholder and an entry in `X`. */
  #slot(value: unknown, owner: number, key: string | number): void {
    if (typeof value !== 'object' || value === null) {
      this.#primitive(value)
      return
    }
    const node = this.#index.get(value) as Node
    if (node.inline) {
      this.#native(node, owner)
      return
    }
    this.#out.undefined()
    this.#patches.push(owner, key, node.number)
  }

  #parts(node: Node): void {
    const parts = this.#partsOf(node)
    this.#out.array(parts.length)
    parts.forEach((value, i) => {
      this.#slot(value, node.parts, i)
    })
  }

  /** What the builder makes `node` of: see `BUILD`. */
  #partsOf(node: Node): readonly unknown[] {
    switch (node.build) {
      case BUILD.map: {
        const entries: unknown[] = []
        entriesOf.call(node.object, (value, key) => entries.push(key, value))
        return entries
      }
      case BUILD.set: {
        const items: unknown[] = []
        itemsOf.call(node.object, (item) => items.push(item))
        return items
      }
      case BUILD.regExp: {
        const { source, flags } = regExpParts(node.object)
        return [source, flags]
      }
      case BUILD.error: {
        const { name, message, hasCause, cause } = errorParts(node.object)
        return [name, message, hasCause, cause]
      }
      case BUILD.array: {
        const source = node.object as unknown[]
        const parts: unknown[] = [source.length]
        for (const key of Object.keys(source)) parts.push(key, source[key as unknown as number])
        return parts
      }
      default: {
        const { buffer, byteOffset, byteLength, type } = viewParts(node.object)
        const number = (this.#index.get(buffer) as Node).number
        return [viewPosition(type), number, byteOffset, byteLength / elementBytes(type)]
      }
    }
  }

  #primitive(value: unknown): void {
    const out = this.#out
    if (typeof value === 'string') out.string(value)
    else if (typeof value === 'number') out.number(value)
    else if (typeof value === 'boolean') out.boolean(value)
    else if (typeof value === 'bigint') out.bigInt(value)
    else if (value === null) out.null()
    else out.undefined()
  }
}

/** Calls `visit` with everything that `node` holds, and with its place there. */
function eachPart(node: Node, visit: (value: unknown, key: string | number) => void): void {
  switch (node.kind) {
    case 'object': {
      const source = node.object as Record<string, unknown>
      for (const key of Object.keys(source)) visit(source[key], key)
      return
    }
    case 'array': {
      const source = node.object as unknown[]
      if (isDense(source)) source.forEach(visit)
      else for (const key of Object.keys(source)) visit(source[key as unknown as number], key)
      return
    }
    case 'map': {
      let i = 0
      entriesOf.call(node.object, (value, key) => {
        visit(key, i)
        visit(value, i + 1)
        i += 2
      })
      return
    }
    case 'set': {
      let i = 0
      itemsOf.call(node.object, (item) => {
        visit(item, i)
        i += 1
      })
      return
    }
    case 'error':
      visit(errorParts(node.object).cause, 'cause')
      return
    case 'view':
      visit(viewParts(node.object).buffer, '')
      return
    default:
  }
}

function howToBuild(node: Node, pure: boolean): number | undefined {
  switch (node.kind) {
    case 'map':
      return BUILD.map
    case 'set':
      return BUILD.set
    case 'regexp':
      return BUILD.regExp
    case 'error':
      return BUILD.error
    case 'array':
      return isDense(node.object as unknown[]) ? undefined : BUILD.array
    case 'view':
      // The native decoder makes no DataView, and no view of a buffer that something else holds too.
      return pure && VIEW_TYPES[viewParts(node.object).type]?.name !== 'DataView' ? undefined : BUILD.view
    default:
      return undefined
  }
}

/** Whether an array has all its elements and nothing else. */
function isDense(array: readonly unknown[]): boolean {
  const keys = Object.keys(array)
  return keys.length === array.length && (keys.length === 0 || keys.at(-1) === String(keys.length - 1))
}

function viewPosition(type: number): number {
  return VIEW_ORDER.indexOf(VIEW_TYPES[type]?.name ?? '')
}

function elementBytes(type: number): number {
  return VIEW_TYPES[type]?.elementBytes ?? 1
}

function holderOf(node: Node | undefined): Holder | undefined {
  if (node === undefined) return undefined
  return { kind: node.kind as ContainerKind, parent: holderOf(node.parent), key: node.key }
}

/** Appends the table for a failed call: an `Error` with `code` and `details`. */
export function encodeFailure(out: BytecodeBuffer, failure: GuestFailure): void {
  const details = Object.entries(failure.details ?? {})
  out.array(5)
  out.array(2)
  out.undefined()
  out.array(failure.details === undefined ? 6 : 8)
  out.string(failure.name ?? 'Error')
  out.string(failure.message)
  out.boolean(false)
  out.undefined()
  out.string('code')
  out.string(failure.code)
  if (failure.details !== undefined) {
    out.string('details')
    out.object(details.length)
    for (const [key, value] of details) {
      out.name(key)
      if (typeof value === 'number') out.number(value)
      else if (typeof value === 'boolean') out.boolean(value)
      else out.string(value)
    }
  }
  out.array(3)
  for (const part of [0, BUILD.error, 1]) out.number(part)
  out.array(0)
  out.number(-1)
  out.number(0)
}
