/**
 * URLs as programs write them. What is checked, connected to and shown is the parsed URL, never the text; texts that
 * a parser silently repairs (tabs, newlines, backslashes) are refused, because a person reads them otherwise.
 */
import { CaissonError } from '../../src/base/errors.ts'

/** Longest URL, in UTF-16 code units. */
export const MAX_URL_LENGTH = 8_192

// biome-ignore lint/suspicious/noControlCharactersInRegex: finding control characters is the point
const REPAIRED = /[\u0000-\u0020\u007f\\]/

/**
 * Parses an absolute http or https URL, or one relative to `base`. The fragment, which is never sent, is dropped.
 * @throws CaissonError `network_denied`
 */
export function parseRequestUrl(text: string, base?: URL): URL {
  if (text.length > MAX_URL_LENGTH) throw refuse(`is longer than ${MAX_URL_LENGTH} characters`)
  if (REPAIRED.test(text)) throw refuse('has a space, a control character or a backslash; encode it')
  const url = parse(text, base)
  if (url === undefined) throw refuse('is not a valid absolute URL')
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw refuse(`has the scheme "${url.protocol.slice(0, 20)}"; only http: and https: can be fetched`)
  }
  if (url.username !== '' || url.password !== '') {
    throw refuse('has a user name or password before the host; leave them out')
  }
  if (url.hostname === '' || url.hostname.endsWith('.'))
    throw refuse('has no host, or one that ends in a dot')
  url.hash = ''
  return url
}

function parse(text: string, base: URL | undefined): URL | undefined {
  try {
    return new URL(text, base)
  } catch {
    return undefined
  }
}

function refuse(problem: string): CaissonError {
  return new CaissonError('network_denied', `The URL ${problem}.`)
}
