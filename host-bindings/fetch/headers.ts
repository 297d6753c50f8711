/**
 * Which headers a program may send, and which it gets to see.
 *
 * 1. Headers that steer the connection, forge where a request comes from, tunnel another method, or carry
 *    credentials are refused by name, not dropped: a program that relied on one must not go on without it.
 * 2. A value is one line of Latin-1, so that no header hides in another.
 * 3. Cookies of a server never reach a program, nor what describes an encoding that was already undone.
 */
import { CaissonError } from '../../src/base/errors.ts'

/** Header names in lower case. */
export type Headers = Readonly<Record<string, string>>

/** The forbidden request headers of the fetch standard, and what proxies and servers take for the client's address. */
const FORBIDDEN: ReadonlySet<string> = new Set([
  ...[
    'accept-charset',
    'accept-encoding',
    'connection',
    'content-length',
    'cookie',
    'cookie2',
    'date',
    'dnt',
  ],
  ...['expect', 'host', 'keep-alive', 'origin', 'referer', 'te', 'trailer', 'transfer-encoding', 'upgrade'],
  ...['via', 'forwarded', 'x-real-ip', 'true-client-ip', 'x-http-method', 'x-http-method-override'],
  ...['x-method-override', 'http2-settings'],
])
const FORBIDDEN_PREFIXES = ['proxy-', 'sec-', 'access-control-', 'x-forwarded-', 'cf-', 'x-amz-security-']
/** Credentials: only where the embedder lets programs bring their own. */
const CREDENTIALS: ReadonlySet<string> = new Set(['authorization'])
/** What goes along when a redirect leads to another origin. Everything else was meant for the first one. */
const PORTABLE: ReadonlySet<string> = new Set([
  ...['accept', 'accept-language', 'content-language', 'content-type', 'user-agent'],
])
const HIDDEN: ReadonlySet<string> = new Set([
  ...['set-cookie', 'set-cookie2', 'content-encoding', 'content-length', 'transfer-encoding', 'connection'],
  ...['keep-alive', 'proxy-authenticate', 'proxy-authentication-info', 'trailer', 'upgrade'],
])

const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/
const VALUE = /^[\t\u0020-\u007e\u0080-\u00ff]*$/
const MAX_HEADERS = 64
const MAX_TOTAL_LENGTH = 16_384

/**
 * The headers of a program, checked and in lower case.
 * @param allowed names that this grant permits although they carry credentials, in lower case
 * @throws CaissonError `denied` with `details: { header }`
 */
export function checkRequestHeaders(given: Headers, allowed: readonly string[] = []): Headers {
  const entries = Object.entries(given)
  const totalLength = entries.reduce((sum, [name, value]) => sum + name.length + value.length, 0)
  if (entries.length > MAX_HEADERS || totalLength > MAX_TOTAL_LENGTH) {
    throw new CaissonError(
      'denied',
      `At most ${MAX_HEADERS} headers of ${MAX_TOTAL_LENGTH} characters in all.`,
    )
  }
  const checked: Record<string, string> = Object.create(null)
  for (const [name, value] of entries) {
    const lower = name.toLowerCase()
    const problem = headerProblem(lower, value, allowed)
    if (problem !== undefined) throw refuseHeader(lower, problem)
    if (lower in checked) throw refuseHeader(lower, 'is given twice')
    checked[lower] = value.trim()
  }
  return checked
}

/** What goes along from one origin to another. */
export function portableHeaders(headers: Headers): Headers {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => PORTABLE.has(name)))
}

/** A request that has lost its body has lost what described it. */
export function withoutBodyHeaders(headers: Headers): Headers {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith('content-')))
}

/** What a program sees of a response: lower-case names, repeated ones joined with a comma. */
export function visibleHeaders(raw: Iterable<readonly [name: string, value: string]>): Headers {
  const visible: Record<string, string> = Object.create(null)
  for (const [name, value] of raw) {
    const lower = name.toLowerCase()
    if (HIDDEN.has(lower)) continue
    const before = visible[lower]
    visible[lower] = before === undefined ? value : `${before}, ${value}`
  }
  return visible
}

function headerProblem(name: string, value: string, allowed: readonly string[]): string | undefined {
  if (!NAME.test(name)) return 'has a name that HTTP does not take'
  if (!VALUE.test(value)) return 'has a value that is not one line of Latin-1'
  if (CREDENTIALS.has(name))
    return allowed.includes(name) ? undefined : 'carries credentials; the host adds those'
  const forbidden = FORBIDDEN.has(name) || FORBIDDEN_PREFIXES.some((prefix) => name.startsWith(prefix))
  return forbidden ? 'cannot be set by a program; leave it out' : undefined
}

function refuseHeader(name: string, problem: string): CaissonError {
  const shown = name.slice(0, 60)
  return new CaissonError('denied', `The request header ${JSON.stringify(shown)} ${problem}.`, {
    details: { header: shown },
  })
}
