/** `URL` of the URL standard. Hosts beyond ASCII are refused: no guest carries the tables of IDNA. */
import { requireArguments, usvString as text } from '../arguments.ts'
import type { Unit } from '../host.ts'
import {
  addSegments,
  encodeQuery,
  endOf,
  parseUrl,
  SCHEME,
  setFileHost,
  splitPort,
  withoutBreaks,
} from './url/parse.ts'
import { FRAGMENT, percentEncode, USERINFO } from './url/percent-encode.ts'
import { isSpecial, portOf, serialize, serializeHost, serializePath, type UrlRecord } from './url/record.ts'
import type { UrlHostExports } from './url-hosts.ts'
import type { SearchParamsExports } from './url-search-params.ts'

/** Names that need no look at what else a host can be: the last label begins with a letter. */
const PLAIN_HOST = /^(?:[a-z0-9-]+\.)*[a-z][a-z0-9-]*$/i

const unit: Unit = ({ use }) => {
  const parseHost = (text: string, opaque: boolean): string | undefined => {
    if (!opaque && PLAIN_HOST.test(text) && !/xn--/i.test(text)) return text.toLowerCase()
    if (opaque && text === '') return ''
    return (use('url-hosts') as unknown as UrlHostExports).parseHost(text, opaque)
  }

  /** @throws TypeError */
  function parse(input: unknown, base: unknown): UrlRecord {
    const from = base === undefined ? undefined : parseUrl(text(base), undefined, parseHost)
    if (base !== undefined && from === undefined)
      throw new TypeError(`Invalid base URL: "${clip(text(base))}".`)
    const given = text(input)
    const url = parseUrl(given, from, parseHost)
    if (url === undefined) throw new TypeError(`Invalid URL: "${clip(given)}".`)
    return url
  }

  class URL {
    #url: UrlRecord
    #params: object | undefined

    constructor(url: unknown, base: unknown = undefined) {
      // biome-ignore lint/complexity/noArguments: an argument that is undefined counts.
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
        const inner = parseUrl(serializePath(this.#url), undefined, parseHost)
        return inner && /^https?$/.test(inner.scheme) ? `${inner.scheme}://${serializeHost(inner)}` : 'null'
      }
      return isSpecial(scheme) && scheme !== 'file' ? `${scheme}://${serializeHost(this.#url)}` : 'null'
    }

    get protocol(): string {
      return `${this.#url.scheme}:`
    }

    set protocol(value: unknown) {
      const url = this.#url
      const scheme = SCHEME.exec(`${withoutBreaks(text(value))}:`)?.[1]?.toLowerCase()
      if (scheme === undefined || isSpecial(scheme) !== isSpecial(url.scheme)) return
      if (scheme === 'file' && (url.username !== '' || url.password !== '' || url.port !== null)) return
      if (url.scheme === 'file' && !url.host) return
      url.scheme = scheme
      url.port = portOf(scheme, url.port)
    }

    get username(): string {
      return this.#url.username
    }

    set username(value: unknown) {
      if (this.#isNamed) this.#url.username = percentEncode(text(value), USERINFO)
    }

    get password(): string {
      return this.#url.password
    }

    set password(value: unknown) {
      if (this.#isNamed) this.#url.password = percentEncode(text(value), USERINFO)
    }

    get host(): string {
      return serializeHost(this.#url)
    }

    set host(value: unknown) {
      this.#setHost(text(value), true)
    }

    get hostname(): string {
      return this.#url.host ?? ''
    }

    set hostname(value: unknown) {
      this.#setHost(text(value), false)
    }

    get port(): string {
      return `${this.#url.port ?? ''}`
    }

    set port(value: unknown) {
      const given = text(value)
      if (!this.#isNamed) return
      if (given === '') this.#url.port = null
      else this.#setPort(withoutBreaks(given))
    }

    get pathname(): string {
      return serializePath(this.#url)
    }

    set pathname(value: unknown) {
      const given = withoutBreaks(text(value))
      const url = this.#url
      if (typeof url.path === 'string') return
      url.path = []
      if (isSpecial(url.scheme)) addSegments(url, given.replace(/^[/\\]/, ''))
      else if (given !== '') addSegments(url, given.replace(/^\//, ''))
      else if (url.host === null) url.path.push('')
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
      const given = text(value)
      this.#url.fragment =
        given === '' ? null : percentEncode(withoutBreaks(given.replace(/^#/, '')), FRAGMENT)
    }

    toString(): string {
      return serialize(this.#url)
    }

    toJSON(): string {
      return serialize(this.#url)
    }

    /** Whether it can have a user, a password and a port. */
    get #isNamed(): boolean {
      return Boolean(this.#url.host) && this.#url.scheme !== 'file'
    }

    #queryChanged(query: string): void {
      if (this.#params === undefined) return
      ;(use('url-search-params') as unknown as SearchParamsExports).refill(this.#params, query)
    }

    #setHost(value: string, withPort: boolean): void {
      const url = this.#url
      if (typeof url.path === 'string') return
      const special = isSpecial(url.scheme)
      const given = withoutBreaks(value)
      const rest = given.slice(0, endOf(given, special ? /[/\\?#]/ : /[/?#]/))
      try {
        if (url.scheme === 'file') {
          if (rest === '') url.host = ''
          else setFileHost(url, rest, parseHost)
          return
        }
        const [host, port] = splitPort(rest)
        if (host === '' && (special || port !== undefined)) return
        if (host === '' && (url.username !== '' || url.password !== '' || url.port !== null)) return
        if (port !== undefined && !withPort) return
        const parsed = parseHost(host, !special)
        if (parsed === undefined) return
        url.host = parsed
        if (port !== undefined) this.#setPort(port)
      } catch {
        // A host that is refused changes nothing.
      }
    }

    #setPort(value: string): void {
      const digits = /^[0-9]+/.exec(value)?.[0]
      if (digits === undefined || Number(digits) > 65_535) return
      this.#url.port = portOf(this.#url.scheme, Number(digits))
    }
  }
  return { URL }
}
export default unit

function clip(input: string): string {
  return input.length > 100 ? `${input.slice(0, 100)}…` : input
}
