/**
 * The basic URL parser of the URL standard (whatwg, section 4.4), by parts instead of by characters: what a state
 * reads is found by one search, since a guest pays for each step.
 *
 * Failure is undefined, and a thrown `Unreadable` where saying why helps.
 */
import { FRAGMENT, PATH, percentEncode, QUERY, SPECIAL_QUERY, USERINFO } from './percent-encode.ts'
import { isSpecial, portOf, type UrlRecord } from './record.ts'

/** Parses a host. Undefined is a failure. */
export type ParseHost = (text: string, opaque: boolean) => string | undefined

// Both cases are written out, here and below: the engine takes as long to fold a class of letters as to read a
// hundred bytes of source.
const DRIVE_LETTER = /^[A-Za-z][:|]$/
const DRIVE = /^[A-Za-z]:$/
export const SCHEME: RegExp = /^([A-Za-z][A-Za-z0-9+\-.]*):/

/** Reads what is no whole address with an authority (`../url-rest.ts`). */
export type ReadRest = (url: UrlRecord, rest: string, base: UrlRecord | undefined) => UrlRecord | undefined

export function parseUrl(
  given: string,
  base: UrlRecord | undefined,
  parseHost: ParseHost,
  readRest: ReadRest,
): UrlRecord | undefined {
  const input = withoutBreaks(given.replace(/^[\0- ]+|[\0- ]+$/g, ''))
  const [prefix, name] = SCHEME.exec(input) ?? ['']
  const rest = input.slice(prefix.length)
  const url: UrlRecord = {
    scheme: name?.toLowerCase() ?? '',
    username: '',
    password: '',
    host: null,
    port: null,
    path: [],
    query: null,
    fragment: null,
  }
  const { scheme } = url
  const hasSlashes = rest.startsWith('//')
  if (scheme !== '' && scheme !== 'file') {
    if (!isSpecial(scheme)) {
      if (hasSlashes) return readAuthority(url, rest.slice(2), parseHost)
    } else if (hasSlashes || base?.scheme !== scheme) {
      return readAuthority(url, rest.replace(/^[/\\]+/, ''), parseHost)
    }
  }
  return readRest(url, rest, base)
}

export function withoutBreaks(text: string): string {
  return text.replace(/[\t\n\r]+/g, '')
}

export function readAuthority(url: UrlRecord, rest: string, parseHost: ParseHost): UrlRecord | undefined {
  const end = endOf(rest, isSpecial(url.scheme) ? /[/\\?#]/ : /[/?#]/)
  const authority = rest.slice(0, end)
  const at = authority.lastIndexOf('@')
  if (at >= 0) {
    const credentials = authority.slice(0, at)
    const colon = endOf(credentials, /:/)
    url.username = percentEncode(credentials.slice(0, colon), USERINFO)
    url.password = percentEncode(credentials.slice(colon + 1), USERINFO)
    if (at === authority.length - 1) return undefined
  }
  const [host, port] = splitPort(authority.slice(at + 1))
  if (host === '' && (isSpecial(url.scheme) || port !== undefined)) return undefined
  const parsed = parseHost(host, !isSpecial(url.scheme))
  if (parsed === undefined) return undefined
  url.host = parsed
  if (port !== undefined && port !== '') {
    const number = Number(port)
    if (!/^[0-9]+$/.test(port) || number > 65_535) return undefined
    url.port = portOf(url.scheme, number)
  }
  readPathStart(url, rest.slice(end))
  return url
}

/** Host and port by the first colon outside of brackets; without one the port is undefined. */
export function splitPort(text: string): readonly [host: string, port: string | undefined] {
  let inside = false
  for (let i = 0; i < text.length; i += 1) {
    const c = text[i]
    if (c === '[') inside = true
    else if (c === ']') inside = false
    else if (c === ':' && !inside) return [text.slice(0, i), text.slice(i + 1)]
  }
  return [text, undefined]
}

export function readPathStart(url: UrlRecord, rest: string): void {
  if (isSpecial(url.scheme)) readPath(url, rest.replace(/^[/\\]/, ''))
  else if (rest[0] === '/') readPath(url, rest.slice(1))
  else readTail(url, rest)
}

/** Reads segments behind those that are there, then query and fragment. */
export function readPath(url: UrlRecord, rest: string): void {
  const end = endOf(rest, /[?#]/)
  addSegments(url, rest.slice(0, end))
  readTail(url, rest.slice(end))
}

export function addSegments(url: UrlRecord, text: string): void {
  const path = url.path as string[]
  const segments = text.split(isSpecial(url.scheme) ? /[/\\]/ : '/')
  const last = segments.length - 1
  for (let i = 0; i <= last; i += 1) {
    let segment = percentEncode(segments[i] as string, PATH)
    if (/^(?:\.|%2[Ee]){2}$/.test(segment)) {
      shorten(url, path)
      if (i === last) path.push('')
    } else if (/^(?:\.|%2[Ee])$/.test(segment)) {
      if (i === last) path.push('')
    } else {
      if (url.scheme === 'file' && path.length === 0 && DRIVE_LETTER.test(segment)) segment = `${segment[0]}:`
      path.push(segment)
    }
  }
}

export function shorten(url: UrlRecord, path: string[]): void {
  if (url.scheme === 'file' && path.length === 1 && DRIVE.test(path[0] as string)) return
  path.pop()
}

/** `?query#fragment`, both of which may be missing. A query that is not there stays as it is. */
export function readTail(url: UrlRecord, rest: string): void {
  const end = endOf(rest, /#/)
  if (rest[0] === '?') url.query = encodeQuery(url, rest.slice(1, end))
  if (end < rest.length) url.fragment = percentEncode(rest.slice(end + 1), FRAGMENT)
}

export function encodeQuery({ scheme }: UrlRecord, text: string): string {
  return percentEncode(text, isSpecial(scheme) ? SPECIAL_QUERY : QUERY)
}

export function endOf(text: string, stop: RegExp): number {
  const at = text.search(stop)
  return at < 0 ? text.length : at
}
