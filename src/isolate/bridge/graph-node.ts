/** The objects of a value that is sent as a graph: what they hold, and how they are made in the guest. */
import { errorParts } from '../../values/error-value.ts'
import { VIEW_TYPES, viewParts } from '../../values/object-parts.ts'
import type { ContainerKind, ValueKind } from '../../values/value-kind.ts'
import type { Holder } from '../../values/value-path.ts'
import { BUILD } from './bridge-source.ts'

/** An object of the value. */
export interface GraphNode {
  readonly object: object
  readonly kind: ValueKind
  readonly parent: GraphNode | undefined
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

/** Calls `visit` with everything that `node` holds, and with its place there. */
export function eachPart(node: GraphNode, visit: (value: unknown, key: string | number) => void): void {
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

/** Kind of `BUILD`, or undefined where the native decoder makes `node`. `pure`: all it holds is part of its encoding. */
export function howToBuild(node: GraphNode, pure: boolean): number | undefined {
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

/** The place of what `node` holds, for messages. */
export function holderOf(node: GraphNode | undefined): Holder | undefined {
  if (node === undefined) return undefined
  return { kind: node.kind as ContainerKind, parent: holderOf(node.parent), key: node.key }
}
