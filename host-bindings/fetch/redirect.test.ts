import { describe, expect, it } from 'vitest'
import { isRedirect, redirectedRequest } from './redirect.ts'
import type { HttpRequest } from './transport.ts'

const request = (overrides: Partial<HttpRequest> = {}): HttpRequest => ({
  url: new URL('https://a.test/dir/page?q'),
  method: 'POST',
  headers: { 'content-type': 'text/plain', accept: 'x', authorization: 'secret', 'x-api-key': 'secret' },
  body: Uint8Array.of(1),
  maxResponseBytes: 1,
  ...overrides,
})

describe('redirects', () => {
  it('are the five statuses with a target', () => {
    const statuses = [200, 300, 301, 302, 303, 304, 305, 306, 307, 308].filter((code) =>
      isRedirect(code, '/x'),
    )
    expect(statuses).toEqual([301, 302, 303, 307, 308])
    expect(isRedirect(302, undefined)).toBe(false)
  })

  it.each([
    [301, 'POST', 'GET'],
    [302, 'POST', 'GET'],
    [303, 'POST', 'GET'],
    [303, 'PUT', 'GET'],
    [303, 'HEAD', 'HEAD'],
    [301, 'PUT', 'PUT'],
    [307, 'POST', 'POST'],
    [308, 'POST', 'POST'],
  ])('a %i turns %s into %s, and a body goes with its headers', (status, before, after) => {
    const next = redirectedRequest(request({ method: before }), status, '/x')
    expect(next.method).toBe(after)
    const keeps = before === after
    expect(next.body !== undefined).toBe(keeps)
    expect('content-type' in next.headers).toBe(keeps)
  })

  it('resolve against the page they come from', () => {
    expect(redirectedRequest(request(), 307, 'next').url.href).toBe('https://a.test/dir/next')
    expect(redirectedRequest(request(), 307, '//b.test/x').url.href).toBe('https://b.test/x')
  })

  it.each(['https://b.test/', 'https://a.test:444/', '//sub.a.test/'])(
    'to another origin (%s) take no credentials and nothing unknown along',
    (target) => {
      const next = redirectedRequest(request(), 307, target)
      expect(next.headers).toEqual({ 'content-type': 'text/plain', accept: 'x' })
    },
  )

  it('within an origin keep the headers', () => {
    expect(redirectedRequest(request(), 307, '/x').headers).toEqual(request().headers)
  })

  it.each([
    'http://a.test/',
    'file:///etc/passwd',
    'data:,x',
    'https://u:p@a.test/',
    'https://a.test\\@b.test',
    '\t/x',
  ])('to %j are refused', (target) => {
    expect(() => redirectedRequest(request(), 302, target)).toThrow(
      expect.objectContaining({ code: 'network_denied' }),
    )
  })
})
