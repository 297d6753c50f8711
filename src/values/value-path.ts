/**
 * Where in a value something is, as text: `args.items[3]["odd key"].cause`.
 *
 * Keys are hostile text: clipped and escaped, and the whole path is clipped in its middle, so that a message
 * that carries it stays short whatever the value is.
 */
import { clipText, escapeText } from '../base/escape-text.ts'
import type { ContainerKind } from './value-kind.ts'

const MAX_KEY = 40
/** Steps shown at each end. */
const MAX_STEPS = 8
const IDENTIFIER = /^[A-Za-z_$][\w$]*$/

/** A container with its own place: the holder that it was met in first, and where. */
export interface Holder {
  readonly kind: ContainerKind
  /** Undefined for the root. */
  readonly parent: Holder | undefined
  /** Its key in `parent`: see `placePath`. */
  readonly key: string | number
}

function renderStep(kind: ContainerKind, key: string | number): string {
  switch (kind) {
    case 'map':
      return `<${Number(key) % 2 === 0 ? 'key' : 'value'} of entry ${Math.floor(Number(key) / 2)}>`
    case 'set':
      return `<entry ${key}>`
    case 'error':
      return '.cause'
    default:
      if (typeof key === 'number') return `[${key}]`
      if (key.length <= MAX_KEY && IDENTIFIER.test(key)) return `.${key}`
      return `["${escapeText(clipText(key, MAX_KEY).replaceAll('"', '\\"'))}"]`
  }
}

/**
 * The path of the place `key` in `holder`, as text.
 *
 * `key` is the property name, the index as a number, the number of an entry of a Set, twice the number of an
 * entry of a Map (plus one for its value), or anything for the cause of an error.
 * @param root names the whole value, e.g. `args` or `result`
 */
export function placePath(root: string, holder: Holder | undefined, key: string | number): string {
  if (holder === undefined) return root
  const steps = [renderStep(holder.kind, key)]
  for (let at = holder; at.parent !== undefined; at = at.parent)
    steps.push(renderStep(at.parent.kind, at.key))
  steps.reverse()
  const hidden = steps.length - 2 * MAX_STEPS
  if (hidden <= 0) return root + steps.join('')
  return `${root}${steps.slice(0, MAX_STEPS).join('')}…(${hidden} steps)…${steps.slice(-MAX_STEPS).join('')}`
}
