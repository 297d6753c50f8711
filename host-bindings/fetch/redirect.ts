/**
 * The next request after a redirect, as the fetch standard has it (HTTP-redirect fetch), and stricter where it lets
 * things through: across origins only harmless headers go along, and nothing goes from https to http.
 */
import { CaissonError } from '../../src/base/errors.ts'
import { portableHeaders, withoutBodyHeaders } from './headers.ts'
import { parseRequestUrl } from './request-url.ts'
import type { HttpRequest } from './transport.ts'

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/** Whether a response with this status and `Location` leads elsewhere. */
export function isRedirect(status: number, location: string | undefined): location is string {
  return REDIRECTS.has(status) && location !== undefined
}

/**
 * The request to make next. Whether its origin is allowed is still to be checked.
 * @throws CaissonError `network_denied` for a target that cannot be fetched
 */
export function redirectedRequest(request: HttpRequest, status: number, location: string): HttpRequest {
  const url = parseRequestUrl(location, request.url)
  if (request.url.protocol === 'https:' && url.protocol === 'http:') {
    throw new CaissonError('network_denied', 'A redirect leads from https to http.')
  }
  let { method, body, headers } = request
  const toGet =
    status === 303
      ? method !== 'GET' && method !== 'HEAD'
      : (status === 301 || status === 302) && method === 'POST'
  if (toGet) {
    method = 'GET'
    body = undefined
    headers = withoutBodyHeaders(headers)
  }
  if (url.origin !== request.url.origin) headers = portableHeaders(headers)
  return { ...request, url, method, body, headers }
}
