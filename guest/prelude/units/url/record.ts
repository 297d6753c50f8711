/** A URL as the standard has it: what is parsed, changed and written. */

export interface UrlRecord {
  scheme: string
  username: string
  password: string
  /** Serialised; null where there is none. */
  host: string | null
  port: number | null
  /** Segments, or text where the path is opaque. */
  path: string[] | string
  query: string | null
  fragment: string | null
}

const DEFAULT_PORTS: Readonly<Record<string, number | null>> = {
  ftp: 21,
  file: null,
  http: 80,
  https: 443,
  ws: 80,
  wss: 443,
}

export function isSpecial(scheme: string): boolean {
  return Object.hasOwn(DEFAULT_PORTS, scheme)
}

/** The port, or null where it is the one that the scheme stands for. */
export function portOf(scheme: string, port: number | null): number | null {
  return DEFAULT_PORTS[scheme] === port ? null : port
}

export function serializePath({ path }: UrlRecord): string {
  return typeof path === 'string' ? path : path.map((segment) => `/${segment}`).join('')
}

export function serializeHost({ host, port }: UrlRecord): string {
  return host === null ? '' : port === null ? host : `${host}:${port}`
}

export function serialize(url: UrlRecord): string {
  const { scheme, username, password, host, path, query, fragment } = url
  let text = `${scheme}:`
  if (host !== null) {
    const credentials = username || password ? `${username}${password && `:${password}`}@` : ''
    text += `//${credentials}${serializeHost(url)}`
  } else if (typeof path !== 'string' && path.length > 1 && path[0] === '') text += '/.'
  text += serializePath(url)
  if (query !== null) text += `?${query}`
  if (fragment !== null) text += `#${fragment}`
  return text
}
