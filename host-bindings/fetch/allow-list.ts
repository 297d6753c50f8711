/**
 * Which origins a program may reach: patterns of the embedder, compared with parsed URLs only.
 *
 * A pattern is `[scheme://]host[:port]`:
 * - `api.example.com` is this host on the default port of its scheme, http or https;
 * - `*.example.com` is every name below it, at any depth, and not `example.com` itself;
 * - `https://api.example.com` is one scheme only; `example.com:8443` one port; `example.com:*` every port;
 * - `192.0.2.1` and `[2001:db8::1]` are addresses.
 *
 * 1. Hosts are compared as the URL standard writes them: lower case, punycode, addresses in canonical form.
 * 2. A `*` never stands for what registries hand out (`*.com`, `*.co.uk`, `*.github.io`): anybody can have those names.
 */
import { CaissonError } from '../../src/base/errors.ts'

export interface AllowListOptions {
  readonly allow: readonly string[]
  /**
   * Whether a domain is a public suffix. Without it patterns with `*` are refused: no rule of thumb tells
   * `co.uk` from `example.com`.
   */
  readonly isPublicSuffix?: (domain: string) => boolean
}

/** One pattern, parsed. */
export interface AllowedOrigin {
  readonly schemes: readonly ('http:' | 'https:')[]
  /** As `URL.hostname` gives it; without the `*.` of a wildcard. */
  readonly hostname: string
  readonly wildcard: boolean
  /** `default` is the scheme's own port. */
  readonly port: number | 'default' | 'any'
}

const PATTERN = /^(?:(https?):\/\/)?(\*\.)?([\p{L}\p{N}._-]+|\[[0-9a-f:.]+\])(?::(\d{1,5}|\*))?$/iu
const MAX_PATTERNS = 1_000

/**
 * Parses the patterns.
 * @throws CaissonError `invalid_argument`, naming the pattern and what is wrong with it
 */
export function parseAllowList(options: AllowListOptions): readonly AllowedOrigin[] {
  if (options.allow.length > MAX_PATTERNS) {
    throw new CaissonError('invalid_argument', `An allow-list takes at most ${MAX_PATTERNS} patterns.`)
  }
  return options.allow.map((pattern) => parsePattern(pattern, options.isPublicSuffix))
}

/** Whether one of the patterns covers this URL. */
export function isAllowed(url: URL, origins: readonly AllowedOrigin[]): boolean {
  return origins.some(
    (origin) => coversScheme(origin, url) && coversHost(origin, url) && coversPort(origin, url),
  )
}

/** The port that a connection for `url` goes to. */
export function portOf(url: URL): number {
  if (url.port !== '') return Number(url.port)
  return url.protocol === 'https:' ? 443 : 80
}

function coversScheme(origin: AllowedOrigin, url: URL): boolean {
  return origin.schemes.some((scheme) => scheme === url.protocol)
}

function coversHost({ hostname, wildcard }: AllowedOrigin, url: URL): boolean {
  return wildcard ? url.hostname.endsWith(`.${hostname}`) : url.hostname === hostname
}

function coversPort({ port }: AllowedOrigin, url: URL): boolean {
  if (port === 'any') return true
  return port === 'default' ? url.port === '' : portOf(url) === port
}

function parsePattern(
  pattern: string,
  isPublicSuffix: ((domain: string) => boolean) | undefined,
): AllowedOrigin {
  const refuse = (problem: string): CaissonError =>
    new CaissonError('invalid_argument', `The allow-list pattern ${JSON.stringify(pattern)} ${problem}.`)

  const [, scheme, star, host = '', port] = PATTERN.exec(pattern) ?? []
  if (host === '') throw refuse('is not [http:// or https://]host[:port]; it takes no path, user or space')
  const hostname = canonicalHost(host)
  if (hostname === undefined || hostname.endsWith('.')) throw refuse('has no valid host')
  if (port !== undefined && port !== '*' && !(Number(port) >= 1 && Number(port) <= 65_535)) {
    throw refuse('has an impossible port')
  }
  const wildcard = star !== undefined
  if (wildcard) {
    if (/^\[|^[\d.]+$/.test(hostname)) throw refuse('has a "*" before an address')
    if (isPublicSuffix === undefined) throw refuse('has a "*", and no list of public suffixes was given')
    if (isPublicSuffix(hostname)) throw refuse('would allow names that anybody can register')
  }
  return {
    schemes:
      scheme === undefined ? ['http:', 'https:'] : [scheme.toLowerCase() === 'https' ? 'https:' : 'http:'],
    hostname,
    wildcard,
    port: port === undefined ? 'default' : port === '*' ? 'any' : Number(port),
  }
}

function canonicalHost(host: string): string | undefined {
  try {
    return new URL(`http://${host}/`).hostname
  } catch {
    return undefined
  }
}
