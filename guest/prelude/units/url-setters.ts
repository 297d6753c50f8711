/** What is assigned to the parts of a URL. Most programs only read them. */
import type { Unit } from '../host.ts'
import { setFileHost } from './url/file-host.ts'
import { addSegments, endOf, type ParseHost, SCHEME, splitPort, withoutBreaks } from './url/parse.ts'
import { FRAGMENT, percentEncode, USERINFO } from './url/percent-encode.ts'
import { isSpecial, portOf, type UrlRecord } from './url/record.ts'

export type UrlPart =
  | 'protocol'
  | 'username'
  | 'password'
  | 'host'
  | 'hostname'
  | 'port'
  | 'pathname'
  | 'hash'

/** Changes a record, or leaves it where the value cannot be that part. */
type Setter = (url: UrlRecord, value: string, parseHost: ParseHost) => void

export interface UrlSetterExports {
  readonly setters: Readonly<Record<UrlPart, Setter>>
}

const unit: Unit<UrlSetterExports & Record<string, unknown>> = () => ({ setters })
export default unit

const setters: Readonly<Record<UrlPart, Setter>> = {
  protocol(url, value) {
    const scheme = SCHEME.exec(`${withoutBreaks(value)}:`)?.[1]?.toLowerCase()
    if (scheme === undefined || isSpecial(scheme) !== isSpecial(url.scheme)) return
    if (scheme === 'file' && (hasCredentials(url) || url.port !== null)) return
    if (url.scheme === 'file' && !url.host) return
    url.scheme = scheme
    url.port = portOf(scheme, url.port)
  },
  username(url, value) {
    if (isNamed(url)) url.username = percentEncode(value, USERINFO)
  },
  password(url, value) {
    if (isNamed(url)) url.password = percentEncode(value, USERINFO)
  },
  host: (url, value, parseHost) => setHost(url, value, parseHost, true),
  hostname: (url, value, parseHost) => setHost(url, value, parseHost, false),
  port(url, value) {
    if (!isNamed(url)) return
    if (value === '') url.port = null
    else setPort(url, withoutBreaks(value))
  },
  pathname(url, value) {
    if (typeof url.path === 'string') return
    const given = withoutBreaks(value)
    url.path = []
    if (isSpecial(url.scheme)) addSegments(url, given.replace(/^[/\\]/, ''))
    else if (given !== '') addSegments(url, given.replace(/^\//, ''))
    else if (url.host === null) url.path.push('')
  },
  hash(url, value) {
    url.fragment = value === '' ? null : percentEncode(withoutBreaks(value.replace(/^#/, '')), FRAGMENT)
  },
}

/** Whether it can have a user, a password and a port. */
function isNamed({ host, scheme }: UrlRecord): boolean {
  return Boolean(host) && scheme !== 'file'
}

function hasCredentials({ username, password }: UrlRecord): boolean {
  return username !== '' || password !== ''
}

function setHost(url: UrlRecord, value: string, parseHost: ParseHost, withPort: boolean): void {
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
    if (host === '' && (special || port !== undefined || hasCredentials(url) || url.port !== null)) return
    if (port !== undefined && !withPort) return
    const parsed = parseHost(host, !special)
    if (parsed === undefined) return
    url.host = parsed
    if (port !== undefined) setPort(url, port)
  } catch {
    // A host that is refused changes nothing.
  }
}

function setPort(url: UrlRecord, value: string): void {
  const digits = /^[0-9]+/.exec(value)?.[0]
  if (digits === undefined || Number(digits) > 65_535) return
  url.port = portOf(url.scheme, Number(digits))
}
