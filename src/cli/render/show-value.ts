/**
 * A result for people: JavaScript-like, with everything that a terminal would obey escaped.
 *
 * Invariants
 * 1. Bounded: at most `MOST_PLACES` places and `DEEPEST` levels are shown, whatever is shared; what is left out is said.
 * 2. No code of the value runs: it is a copy that holds data only.
 */
import { escapeText } from '../../base/escape-text.ts'
import { kindOf } from '../../values/value-kind.ts'
import { jsonText } from './json-text.ts'

const MOST_PLACES = 5_000
const DEEPEST = 24
const LONGEST_STRING = 20_000
const PLAIN_KEY = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u

/** `value` in as many lines as it needs at `width` columns. A string alone stands as its own text. */
export function showValue(value: unknown, width: number): string {
  if (typeof value === 'string') return escapeText(value, 'lines')
  return new ValuePrinter(width).show(value, 0)
}

class ValuePrinter {
  readonly #width: number
  readonly #open = new Set<object>()
  #places = 0

  constructor(width: number) {
    this.#width = width
  }

  show(value: unknown, depth: number): string {
    this.#places += 1
    switch (typeof value) {
      case 'string':
        return quote(value)
      case 'bigint':
        return `${value}n`
      case 'number':
        return Object.is(value, -0) ? '-0' : String(value)
      case 'object':
        return value === null ? 'null' : this.#object(value, depth)
      default:
        return String(value)
    }
  }

  #object(value: object, depth: number): string {
    if (this.#open.has(value)) return '[circular]'
    if (depth >= DEEPEST) return '[deeper]'
    this.#open.add(value)
    try {
      return this.#container(value, depth)
    } finally {
      this.#open.delete(value)
    }
  }

  #container(value: object, depth: number): string {
    switch (kindOf(value)) {
      case 'array':
        return this.#array(value as unknown[], depth)
      case 'map':
        return this.#list(
          `Map(${(value as Map<unknown, unknown>).size}) `,
          '{}',
          this.#entries(value as Map<unknown, unknown>, depth),
          depth,
        )
      case 'set':
        return this.#list(
          `Set(${(value as Set<unknown>).size}) `,
          '{}',
          this.#items(value as Set<unknown>, depth),
          depth,
        )
      case 'view':
        return this.#view(value as ArrayBufferView, depth)
      case 'buffer':
        return `ArrayBuffer(${(value as ArrayBuffer).byteLength})`
      case 'date':
        return Number.isNaN((value as Date).getTime())
          ? 'Date(invalid)'
          : `Date(${(value as Date).toISOString()})`
      case 'regexp':
        return escapeText((value as RegExp).toString())
      case 'error':
        return this.#error(value as Error, depth)
      case 'boxed':
        return `Object(${this.show((value as { valueOf(): unknown }).valueOf(), depth)})`
      default:
        return this.#list('', '{}', this.#properties(value, depth), depth)
    }
  }

  #array(value: readonly unknown[], depth: number): string {
    const parts: string[] = []
    let holes = 0
    for (let i = 0; i < value.length; i++) {
      if (this.#full()) {
        parts.push(more(value.length - i))
        break
      }
      if (!(i in value)) {
        holes += 1
        // Holes cost no place: their number is shown, not each of them.
        if (i + 1 < value.length && !(i + 1 in value)) continue
        parts.push(holes === 1 ? '<hole>' : `<${holes} holes>`)
        holes = 0
      } else {
        parts.push(this.show(value[i], depth + 1))
      }
    }
    return this.#list('', '[]', parts, depth)
  }

  #properties(value: object, depth: number): readonly string[] {
    const parts: string[] = []
    const keys = Object.keys(value)
    for (const [index, key] of keys.entries()) {
      if (this.#full()) return [...parts, more(keys.length - index)]
      const shown = PLAIN_KEY.test(key) ? escapeText(key) : quote(key)
      parts.push(`${shown}: ${this.show((value as Record<string, unknown>)[key], depth + 1)}`)
    }
    return parts
  }

  #entries(map: ReadonlyMap<unknown, unknown>, depth: number): readonly string[] {
    const parts: string[] = []
    for (const [key, value] of map) {
      if (this.#full()) return [...parts, more(map.size - parts.length)]
      parts.push(`${this.show(key, depth + 1)} => ${this.show(value, depth + 1)}`)
    }
    return parts
  }

  #items(set: ReadonlySet<unknown>, depth: number): readonly string[] {
    const parts: string[] = []
    for (const item of set) {
      if (this.#full()) return [...parts, more(set.size - parts.length)]
      parts.push(this.show(item, depth + 1))
    }
    return parts
  }

  #view(view: ArrayBufferView, depth: number): string {
    if (view instanceof DataView) return `DataView(${view.byteLength})`
    const items = view as Uint8Array
    const shown = [...items.subarray(0, 64)].map((item) => this.show(item, depth + 1))
    const parts = items.length > 64 ? [...shown, more(items.length - 64)] : shown
    return this.#list(`${items[Symbol.toStringTag]}(${items.length}) `, '[]', parts, depth)
  }

  #error(error: Error, depth: number): string {
    const own = `[${escapeText(error.name)}: ${escapeText(error.message)}]`
    return 'cause' in error ? `${own} { cause: ${this.show(error.cause, depth + 1)} }` : own
  }

  /** Parts on one line where they fit, else one a line. */
  #list(name: string, brackets: string, parts: readonly string[], depth: number): string {
    const [open, close] = brackets
    if (parts.length === 0) return name + brackets
    const pad = open === '{' ? ' ' : ''
    const line = `${name}${open}${pad}${parts.join(', ')}${pad}${close}`
    const fits = depth * 2 + line.length <= this.#width && !line.includes('\n')
    if (fits) return line
    const inner = '  '.repeat(depth + 1)
    const body = isShort(parts) ? fill(parts, this.#width - inner.length) : parts
    return `${name}${open}\n${body.map((part) => `${inner}${part}`).join(',\n')}\n${'  '.repeat(depth)}${close}`
  }

  #full(): boolean {
    return this.#places >= MOST_PLACES
  }
}

/** Long lists of short things, such as numbers, share lines. */
function isShort(parts: readonly string[]): boolean {
  return parts.length > 6 && parts.every((part) => part.length <= 16 && !part.includes('\n'))
}

function fill(parts: readonly string[], width: number): readonly string[] {
  const lines: string[] = []
  for (const part of parts) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + part.length + 3 <= width)
      lines[lines.length - 1] = `${last}, ${part}`
    else lines.push(part)
  }
  return lines
}

function more(count: number): string {
  return `... ${count} more (--json prints everything)`
}

function quote(text: string): string {
  const shown = text.length > LONGEST_STRING ? text.slice(0, LONGEST_STRING) : text
  const rest = text.length - shown.length
  return rest === 0 ? jsonText(shown) : `${jsonText(shown)} ${more(rest)}`
}
