/** `URLSearchParams` of the URL standard. */
import { requireArguments, usvString as text } from '../arguments.ts'
import type { Unit } from '../host.ts'
import { iterateByEntries, pairIterators } from '../pair-iterators.ts'
import { FORM, percentEncode } from './url/percent-encode.ts'

type Pair = [name: string, value: string]

/** What other units need of it. */
export interface SearchParamsExports {
  /** Those of a URL. @param changed is told their text whenever they change */
  readonly paramsOf: (query: string, changed: (query: string) => void) => object
  /** Makes them those of another query. */
  readonly refill: (params: object, query: string) => void
  /** Those of an object of this class, encoded, whatever a guest did to the class. */
  readonly textOfParams: (value: object) => string | undefined
}

const unit: Unit<SearchParamsExports & Record<string, unknown>> = ({ host }) => {
  let paramsOf!: SearchParamsExports['paramsOf']
  let refill!: SearchParamsExports['refill']
  let textOfParams!: SearchParamsExports['textOfParams']
  const iterate = pairIterators('URLSearchParams')

  class URLSearchParams {
    #pairs: Pair[] = []
    #changed: ((query: string) => void) | undefined

    constructor(init: unknown = '') {
      if (typeof init !== 'object' && typeof init !== 'function')
        this.#pairs = parse(text(init).replace(/^\?/, ''))
      else if (init === null) this.#pairs = parse('null')
      else if (Symbol.iterator in init && (init as Iterable<unknown>)[Symbol.iterator] !== null) {
        for (const pair of init as Iterable<Iterable<unknown>>) {
          const parts = [...pair]
          if (parts.length !== 2) throw new TypeError('URLSearchParams takes pairs of a name and a value.')
          this.#pairs.push([text(parts[0]), text(parts[1])])
        }
      } else {
        const record = new Map<string, string>()
        for (const key of Reflect.ownKeys(init)) {
          if (!Object.getOwnPropertyDescriptor(init, key)?.enumerable) continue
          record.set(text(key), text((init as Record<PropertyKey, unknown>)[key]))
        }
        this.#pairs = [...record]
      }
    }

    get size(): number {
      return this.#pairs.length
    }

    append(name: unknown, value: unknown): void {
      requireArguments(arguments.length, 2, 'URLSearchParams.append')
      this.#pairs.push([text(name), text(value)])
      this.#update()
    }

    delete(name: unknown, value: unknown = undefined): void {
      requireArguments(arguments.length, 1, 'URLSearchParams.delete')
      const isMeant = matcher(name, value)
      this.#pairs = this.#pairs.filter((pair) => !isMeant(pair))
      this.#update()
    }

    get(name: unknown): string | null {
      requireArguments(arguments.length, 1, 'URLSearchParams.get')
      return this.#pairs.find(matcher(name))?.[1] ?? null
    }

    getAll(name: unknown): string[] {
      requireArguments(arguments.length, 1, 'URLSearchParams.getAll')
      return this.#pairs.filter(matcher(name)).map(([, value]) => value)
    }

    has(name: unknown, value: unknown = undefined): boolean {
      requireArguments(arguments.length, 1, 'URLSearchParams.has')
      return this.#pairs.some(matcher(name, value))
    }

    set(name: unknown, value: unknown): void {
      requireArguments(arguments.length, 2, 'URLSearchParams.set')
      const isMeant = matcher(name)
      const pair: Pair = [text(name), text(value)]
      const first = this.#pairs.findIndex(isMeant)
      if (first < 0) this.#pairs.push(pair)
      else {
        const before = this.#pairs.slice(0, first)
        this.#pairs = [...before, pair, ...this.#pairs.slice(first).filter((one) => !isMeant(one))]
      }
      this.#update()
    }

    sort(): void {
      this.#pairs.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
      this.#update()
    }

    forEach(callback: unknown, self: unknown = undefined): void {
      if (typeof callback !== 'function') throw new TypeError('URLSearchParams.forEach takes a function.')
      for (const [name, value] of this) callback.call(self, value, name, this)
    }

    entries(): IterableIterator<Pair> {
      return iterate(this.#live, ([name, value]) => [name, value])
    }

    keys(): IterableIterator<string> {
      return iterate(this.#live, ([name]) => name)
    }

    values(): IterableIterator<string> {
      return iterate(this.#live, ([, value]) => value)
    }

    declare readonly [Symbol.iterator]: () => IterableIterator<Pair>

    toString(): string {
      return serialize(this.#pairs)
    }

    get #live(): () => readonly Pair[] {
      void this.#pairs
      return () => this.#pairs
    }

    #update(): void {
      this.#changed?.(this.toString())
    }

    static {
      paramsOf = (query, changed) => {
        const params = new URLSearchParams()
        params.#pairs = parse(query)
        params.#changed = changed
        return params
      }
      refill = (params, query) => {
        ;(params as URLSearchParams).#pairs = parse(query)
      }
      textOfParams = (value) => (#pairs in value ? serialize(value.#pairs) : undefined)
    }
  }
  iterateByEntries(URLSearchParams.prototype)

  function parse(query: string): Pair[] {
    const pairs: Pair[] = []
    for (const part of query.split('&')) {
      if (part === '') continue
      const at = part.indexOf('=')
      pairs.push([decode(at < 0 ? part : part.slice(0, at)), decode(at < 0 ? '' : part.slice(at + 1))])
    }
    return pairs
  }

  function decode(part: string): string {
    const spaced = part.replaceAll('+', ' ')
    if (!spaced.includes('%')) return spaced
    try {
      return decodeURIComponent(spaced)
    } catch {
      // A percent sign that stands for itself, or bytes that are no UTF-8.
      const bytes = host.encodeText(spaced)
      const out: number[] = []
      for (let i = 0; i < bytes.length; i += 1) {
        const digits = bytes[i] === 0x25 ? String.fromCharCode(...bytes.subarray(i + 1, i + 3)) : ''
        const isEncoded = /^[0-9A-Fa-f]{2}$/.test(digits)
        out.push(isEncoded ? Number.parseInt(digits, 16) : (bytes[i] as number))
        if (isEncoded) i += 2
      }
      return host.decodeText(new Uint8Array(out), 'utf-8', false) as string
    }
  }

  return { URLSearchParams, paramsOf, refill, textOfParams }
}
export default unit

function matcher(name: unknown, value?: unknown): (pair: Pair) => boolean {
  const wanted = text(name)
  if (value === undefined) return (pair) => pair[0] === wanted
  const only = text(value)
  return (pair) => pair[0] === wanted && pair[1] === only
}

function serialize(pairs: readonly Pair[]): string {
  return pairs.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&')
}

function encode(part: string): string {
  return percentEncode(part, FORM).replaceAll('%20', '+')
}
