/** `URL` of the URL standard. Hosts beyond ASCII are refused: no guest carries the tables of IDNA. */
import { requireArguments, usvString as text } from '../arguments.ts'
import type { Unit } from '../host.ts'
import {
  encodeQuery,
  endOf,
  parseUrl,
  readAuthority,
  readPath,
  readPathStart,
  readTail,
  shorten,
  withoutBreaks,
} from './url/parse.ts'
import { isSpecial, serialize, serializeHost, serializePath, type UrlRecord } from './url/record.ts'
import type { UrlHostExports } from './url-hosts.ts'
import type { UrlRestExports } from './url-rest.ts'
import type { SearchParamsExports } from './url-search-params.ts'
import type { UrlPart, UrlSetterExports } from './url-setters.ts'

/** Names that need no look at what else a host can be: the last label begins with a letter. */
const PLAIN_HOST = /^(?:[A-Za-z0-9-]+\.)*[A-Za-z][A-Za-z0-9-]*$/

const unit: Unit = ({ use }) => {
  const parseHost = (text: string, opaque: boolean): string | undefined => {
    if (!opaque && PLAIN_HOST.test(text) && !/[Xx][Nn]--/.test(text)) return text.toLowerCase()
    if (opaque && text === '') return ''
    return (use('url-hosts') as unknown as UrlHostExports).parseHost(text, opaque)
  }

  const PARTS = { endOf, isSpecial, readAuthority, readPath, readPathStart, readTail, shorten }
  const read = (given: string, base?: UrlRecord): UrlRecord | undefined =>
    parseUrl(given, base, parseHost, (url, rest, base) =>
      (use('url-rest') as unknown as UrlRestExports).readRest(url, rest, base, parseHost, PARTS),
    )

  /** @throws TypeError */
  function parse(input: unknown, base: unknown): UrlRecord {
    const from = base === undefined ? undefined : read(text(base))
    if (base !== undefined && from === undefined)
      throw new TypeError(`Invalid base URL: "${clip(text(base))}".`)
    const given = text(input)
    const url = read(given, from)
    if (url === undefined) throw new TypeError(`Invalid URL: "${clip(given)}".`)
    return url
  }

  class URL {
    #url: UrlRecord
    #params: object | undefined

    constructor(url: unknown, base: unknown = undefined) {
      requireArguments(arguments.length, 1, 'URL')
      this.#url = parse(url, base)
    }

    static canParse(url: unknown, base: unknown = undefined): boolean {
      return URL.parse(url, base) !== null
    }

    static parse(url: unknown, base: unknown = undefined): URL | null {
      const [given, from] = [text(url), base === undefined ? undefined : text(base)]
      try {
        return new URL(given, from)
      } catch {
        return null
      }
    }

    get href(): string {
      return serialize(this.#url)
    }

    set href(value: unknown) {
      this.#url = parse(value, undefined)
      this.#queryChanged(this.#url.query ?? '')
    }

    get origin(): string {
      const { scheme } = this.#url
      if (scheme === 'blob') {
        const inner = read(serializePath(this.#url))
        return inner && /^https?$/.test(inner.scheme) ? `${inner.scheme}://${serializeHost(inner)}` : 'null'
      }
      return isSpecial(scheme) && scheme !== 'file' ? `${scheme}://${serializeHost(this.#url)}` : 'null'
    }

    get protocol(): string {
      return `${this.#url.scheme}:`
    }

    set protocol(value: unknown) {
      this.#set('protocol', value)
    }

    get username(): string {
      return this.#url.username
    }

    set username(value: unknown) {
      this.#set('username', value)
    }

    get password(): string {
      return this.#url.password
    }

    set password(value: unknown) {
      this.#set('password', value)
    }

    get host(): string {
      return serializeHost(this.#url)
    }

    set host(value: unknown) {
      this.#set('host', value)
    }

    get hostname(): string {
      return this.#url.host ?? ''
    }

    set hostname(value: unknown) {
      this.#set('hostname', value)
    }

    get port(): string {
      return `${this.#url.port ?? ''}`
    }

    set port(value: unknown) {
      this.#set('port', value)
    }

    get pathname(): string {
      return serializePath(this.#url)
    }

    set pathname(value: unknown) {
      this.#set('pathname', value)
    }

    get search(): string {
      return this.#url.query ? `?${this.#url.query}` : ''
    }

    set search(value: unknown) {
      const given = text(value)
      const query = given.replace(/^\?/, '')
      this.#url.query = given === '' ? null : encodeQuery(this.#url, withoutBreaks(query))
      // Tabs and line breaks are dropped from the URL, and stay in its parameters: so the standard has it.
      if (withoutBreaks(query) !== query) void this.searchParams
      this.#queryChanged(query)
    }

    get searchParams(): object {
      const url = this.#url
      this.#params ??= (use('url-search-params') as unknown as SearchParamsExports).paramsOf(
        url.query ?? '',
        (query) => {
          this.#url.query = query === '' ? null : query
        },
      )
      return this.#params
    }

    get hash(): string {
      return this.#url.fragment ? `#${this.#url.fragment}` : ''
    }

    set hash(value: unknown) {
      this.#set('hash', value)
    }

    toString(): string {
      return serialize(this.#url)
    }

    toJSON(): string {
      return serialize(this.#url)
    }

    #set(part: UrlPart, value: unknown): void {
      ;(use('url-setters') as unknown as UrlSetterExports).setters[part](this.#url, text(value), parseHost)
    }

    #queryChanged(query: string): void {
      if (this.#params === undefined) return
      ;(use('url-search-params') as unknown as SearchParamsExports).refill(this.#params, query)
    }
  }
  return { URL }
}
export default unit

function clip(input: string): string {
  return input.length > 100 ? `${input.slice(0, 100)}…` : input
}
