/** `Headers` of the Fetch standard. No name is forbidden here: the capability that sends them decides. */
import { byteString, pairsOf, requireArguments } from '../arguments.ts'
import type { Unit } from '../host.ts'
import { iterateByEntries, pairIterators } from '../pair-iterators.ts'

type Pair = readonly [name: string, value: string]

/** What other units need of it. */
export interface HeadersExports {
  readonly Headers: new (init?: unknown) => object
  /** Those of a guest's `init`, which may be `Headers`, an object or pairs. */
  readonly headersFrom: (init: unknown) => object
  /** Makes them immutable. @returns the same */
  readonly freezeHeaders: (headers: object) => object
  /** Adds a header unless there is one of the name. */
  readonly addMissing: (headers: object, name: string, value: string) => void
  /** Combined by name, as they are iterated. */
  readonly headerPairs: (headers: object) => readonly Pair[]
  readonly headerValue: (headers: object, name: string) => string | null
}

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const SET_COOKIE = 'set-cookie'

const unit: Unit<HeadersExports & Record<string, unknown>> = () => {
  const iterate = pairIterators('Headers')
  let internal!: Omit<HeadersExports, 'Headers'>

  class Headers {
    /** Values by names in lower case. */
    readonly #values = new Map<string, string[]>()
    #immutable = false
    /** What is iterated, until something changes. */
    #pairs: readonly Pair[] | undefined

    constructor(init: unknown = undefined) {
      if (init !== undefined) this.#fill(init)
    }

    append(name: unknown, value: unknown): void {
      requireArguments(arguments.length, 2, 'Headers.append')
      const [key, text] = [headerName(name), headerText(value)]
      this.#change()
      this.#append(key, text)
    }

    delete(name: unknown): void {
      requireArguments(arguments.length, 1, 'Headers.delete')
      const key = headerName(name)
      this.#change()
      this.#values.delete(key)
    }

    get(name: unknown): string | null {
      requireArguments(arguments.length, 1, 'Headers.get')
      return this.#values.get(headerName(name))?.join(', ') ?? null
    }

    getSetCookie(): string[] {
      return [...(this.#values.get(SET_COOKIE) ?? [])]
    }

    has(name: unknown): boolean {
      requireArguments(arguments.length, 1, 'Headers.has')
      return this.#values.has(headerName(name))
    }

    set(name: unknown, value: unknown): void {
      requireArguments(arguments.length, 2, 'Headers.set')
      const [key, text] = [headerName(name), headerText(value)]
      this.#change()
      this.#values.set(key, [text])
    }

    forEach(callback: unknown, self: unknown = undefined): void {
      const live = this.#live
      if (typeof callback !== 'function') throw new TypeError('Headers.forEach takes a function.')
      for (const [name, value] of iterate(live, (pair) => pair)) callback.call(self, value, name, this)
    }

    entries(): IterableIterator<Pair> {
      return iterate(this.#live, ([name, value]) => [name, value] as const)
    }

    keys(): IterableIterator<string> {
      return iterate(this.#live, ([name]) => name)
    }

    values(): IterableIterator<string> {
      return iterate(this.#live, ([, value]) => value)
    }

    get #live(): () => readonly Pair[] {
      void this.#immutable
      return () => this.#sorted()
    }

    #sorted(): readonly Pair[] {
      this.#pairs ??= [...this.#values.keys()].sort().flatMap((name): Pair[] => {
        const values = this.#values.get(name) ?? []
        return name === SET_COOKIE ? values.map((value) => [name, value]) : [[name, values.join(', ')]]
      })
      return this.#pairs
    }

    #change(): void {
      if (this.#immutable) throw new TypeError('These headers cannot be changed.')
      this.#pairs = undefined
    }

    #append(name: string, value: string): void {
      const values = this.#values.get(name)
      if (values === undefined) this.#values.set(name, [value])
      else values.push(value)
    }

    #fill(init: unknown): void {
      this.#pairs = undefined
      const pairs = pairsOf(init, 'Headers', (part) => byteString(part, 'A header'))
      for (const [name, value] of pairs) this.#append(headerName(name), headerText(value))
    }

    static {
      internal = {
        headersFrom: (init) => new Headers(init),
        freezeHeaders: (headers) => {
          ;(headers as Headers).#immutable = true
          return headers
        },
        addMissing: (headers, name, value) => {
          const own = headers as Headers
          if (own.#values.has(name)) return
          own.#pairs = undefined
          own.#append(name, value)
        },
        headerPairs: (headers) => (headers as Headers).#sorted(),
        headerValue: (headers, name) => (headers as Headers).#values.get(name)?.join(', ') ?? null,
      }
    }
  }
  iterateByEntries(Headers.prototype)
  return { Headers, ...internal }
}
export default unit

function headerName(given: unknown): string {
  const name = byteString(given, 'The name of a header')
  if (!TOKEN.test(name)) throw new TypeError(`"${name.slice(0, 100)}" is no name of a header.`)
  return name.toLowerCase()
}

function headerText(given: unknown): string {
  const text = byteString(given, 'A header')
  let [start, end] = [0, text.length]
  while (start < end && isSpace(text.charCodeAt(start))) start += 1
  while (start < end && isSpace(text.charCodeAt(end - 1))) end -= 1
  const value = text.slice(start, end)
  for (let i = 0; i < value.length; i += 1) {
    const code = value.charCodeAt(i)
    if (code === 0 || code === 10 || code === 13) {
      throw new TypeError('The value of a header has no line break and no NUL.')
    }
  }
  return value
}

function isSpace(code: number): boolean {
  return code === 9 || code === 10 || code === 13 || code === 32
}
