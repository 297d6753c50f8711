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
import { errorParts } from '../../values/error-value.ts'
import { boxedPrimitive, dateTime, regExpParts, VIEW_TYPES, viewParts } from '../../values/object-parts.ts'
import { kindOf, type ValueKind } from '../../values/value-kind.ts'
import { placePath } from '../../values/value-path.ts'
import { BUILD, VIEW_ORDER } from './bridge-source.ts'
import type { BytecodeBuffer } from './bytecode-buffer.ts'
import { eachPart, type GraphNode, holderOf, howToBuild } from './graph-node.ts'
import { MAX_TREE_DEPTH } from './tree-encoder.ts'

const entriesOf = Map.prototype.forEach
const itemsOf = Set.prototype.forEach

/** Appends the table for `copy`, a container that `walkValue` copied. */
export class GraphEncoder {
  readonly #out: BytecodeBuffer
  readonly #nodes: GraphNode[] = []
  readonly #index = new Map<object, GraphNode>()
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
      const node = this.#nodes[i] as GraphNode
      eachPart(node, (value, key) => {
        if (typeof value === 'object' && value !== null) this.#meet(value, node, key)
      })
    }
  }

  #meet(object: object, parent: GraphNode | undefined, key: string | number): void {
    const known = this.#index.get(object)
    if (known !== undefined) {
      known.references += 1
      return
    }
    // `walkValue` made it, so it is of a kind that crosses.
    const kind = kindOf(object) as ValueKind
    const node: GraphNode = {
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
      const node = this.#nodes[i] as GraphNode
      let pure = true
      eachPart(node, (value) => {
        if (typeof value !== 'object' || value === null) return
        const part = this.#index.get(value) as GraphNode
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
    const node = this.#index.get(buffer) as GraphNode
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
  #native(node: GraphNode, owner: number): void {
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
    const node = this.#index.get(value) as GraphNode
    if (node.inline) {
      this.#native(node, owner)
      return
    }
    this.#out.undefined()
    this.#patches.push(owner, key, node.number)
  }

  #parts(node: GraphNode): void {
    const parts = this.#partsOf(node)
    this.#out.array(parts.length)
    parts.forEach((value, i) => {
      this.#slot(value, node.parts, i)
    })
  }

  /** What the builder makes `node` of: see `BUILD`. */
  #partsOf(node: GraphNode): readonly unknown[] {
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
        const number = (this.#index.get(buffer) as GraphNode).number
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

function viewPosition(type: number): number {
  return VIEW_ORDER.indexOf(VIEW_TYPES[type]?.name ?? '')
}

function elementBytes(type: number): number {
  return VIEW_TYPES[type]?.elementBytes ?? 1
}
