/**
 * The rarer half of the parser of URLs: relative ones, files and those without an authority. Most programs parse whole
 * addresses, and a guest pays for each byte that is read to them.
 */
import type { Unit } from '../host.ts'
import { setFileHost } from './url/file-host.ts'
import type {
  endOf,
  ParseHost,
  readAuthority,
  readPath,
  readPathStart,
  readTail,
  shorten,
} from './url/parse.ts'
import { C0_CONTROL, percentEncode } from './url/percent-encode.ts'
import type { isSpecial, UrlRecord } from './url/record.ts'

/** What the other half lends, so that none of it is there twice. */
export interface UrlParts {
  readonly endOf: typeof endOf
  readonly isSpecial: typeof isSpecial
  readonly readAuthority: typeof readAuthority
  readonly readPath: typeof readPath
  readonly readPathStart: typeof readPathStart
  readonly readTail: typeof readTail
  readonly shorten: typeof shorten
}

export interface UrlRestExports {
  readonly readRest: typeof readRest
}

const unit: Unit<UrlRestExports & Record<string, unknown>> = () => ({ readRest })
export default unit

const DRIVE = /^[A-Za-z]:$/
const DRIVE_LETTER = /^[A-Za-z][:|]$/
const STARTS_WITH_DRIVE_LETTER = /^[A-Za-z][:|](?:$|[/\\?#])/

function readRest(
  url: UrlRecord,
  rest: string,
  base: UrlRecord | undefined,
  parseHost: ParseHost,
  parts: UrlParts,
): UrlRecord | undefined {
  if (url.scheme === '') {
    if (base === undefined) return undefined
    url.scheme = base.scheme
    if (typeof base.path === 'string') {
      if (rest[0] !== '#') return undefined
      url.path = base.path
      url.query = base.query
      parts.readTail(url, rest)
      return url
    }
  } else if (url.scheme !== 'file' && !parts.isSpecial(url.scheme)) {
    if (rest[0] === '/') parts.readPath(url, rest.slice(1))
    else {
      const end = parts.endOf(rest, /[?#]/)
      // A space at the end would be lost, were the URL written without what follows.
      url.path = percentEncode(rest.slice(0, end), C0_CONTROL).replace(/ $/, end < rest.length ? '%20' : ' ')
      parts.readTail(url, rest.slice(end))
    }
    return url
  }
  return url.scheme === 'file'
    ? readFile(url, rest, base, parseHost, parts)
    : readRelative(url, rest, base as UrlRecord, parseHost, parts)
}

/** Reads what follows a scheme, or stands without one, against `base`. */
function readRelative(
  url: UrlRecord,
  rest: string,
  base: UrlRecord,
  parseHost: ParseHost,
  parts: UrlParts,
): UrlRecord | undefined {
  const special = parts.isSpecial(url.scheme)
  const isSlash = (c: string | undefined) => c === '/' || (special && c === '\\')
  if (isSlash(rest[0]) && isSlash(rest[1])) {
    return parts.readAuthority(url, special ? rest.replace(/^[/\\]+/, '') : rest.slice(2), parseHost)
  }
  url.username = base.username
  url.password = base.password
  url.host = base.host
  url.port = base.port
  if (isSlash(rest[0])) parts.readPath(url, rest.slice(1))
  else readAgainst(url, rest, base, parts)
  return url
}

/** A path without a slash before it, or none. */
function readAgainst(url: UrlRecord, rest: string, base: UrlRecord, parts: UrlParts): void {
  const path = (base.path as readonly string[]).slice()
  url.path = path
  if (rest === '' || rest[0] === '#') url.query = base.query
  if (rest === '' || rest[0] === '?' || rest[0] === '#') parts.readTail(url, rest)
  else {
    if (url.scheme === 'file' && STARTS_WITH_DRIVE_LETTER.test(rest)) path.length = 0
    else parts.shorten(url, path)
    parts.readPath(url, rest)
  }
}

function readFile(
  url: UrlRecord,
  rest: string,
  base: UrlRecord | undefined,
  parseHost: ParseHost,
  parts: UrlParts,
): UrlRecord | undefined {
  url.host = ''
  const from = base?.scheme === 'file' ? base : undefined
  const slashes = /^[/\\]{0,2}/.exec(rest)?.[0].length ?? 0
  const after = rest.slice(slashes)
  if (slashes === 2) {
    const end = parts.endOf(after, /[/\\?#]/)
    const host = after.slice(0, end)
    if (DRIVE_LETTER.test(host)) parts.readPath(url, after)
    else {
      if (host !== '' && !setFileHost(url, host, parseHost)) return undefined
      parts.readPathStart(url, after.slice(end))
    }
    return url
  }
  if (from !== undefined) url.host = from.host
  if (slashes === 1) {
    const drive = from?.path[0]
    if (drive !== undefined && DRIVE.test(drive) && !STARTS_WITH_DRIVE_LETTER.test(after)) {
      url.path = [drive]
    }
    parts.readPath(url, after)
  } else if (from !== undefined) readAgainst(url, rest, from, parts)
  else parts.readPath(url, rest)
  return url
}
