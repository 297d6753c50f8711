import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isAllowed, parseAllowList } from './allow-list.ts'
import { isPublicSuffix } from './public-suffix.ts'

const allows = (pattern: string, url: string): boolean =>
  isAllowed(new URL(url), parseAllowList({ allow: [pattern], isPublicSuffix }))

describe('an allow-list', () => {
  it.each([
    ['example.com', 'https://example.com/a?b'],
    ['example.com', 'http://example.com'],
    ['EXAMPLE.com', 'https://example.COM'],
    ['example.com:8443', 'https://example.com:8443'],
    ['example.com:443', 'https://example.com'],
    ['example.com:*', 'http://example.com:1'],
    ['https://example.com', 'https://example.com:443'],
    ['*.example.com', 'https://a.example.com'],
    ['*.example.com', 'https://a.b.example.com'],
    ['bücher.example', 'https://xn--bcher-kva.example'],
    ['xn--bcher-kva.example', 'https://BÜCHER.example'],
    ['127.0.0.1:80', 'http://2130706433'],
    ['[::1]:80', 'http://[0:0:0:0:0:0:0:1]'],
    ['[2001:DB8::1]', 'https://[2001:db8:0::1]'],
  ])('%s covers %s', (pattern, url) => {
    expect(allows(pattern, url)).toBe(true)
  })

  it.each([
    ['example.com', 'https://a.example.com'],
    ['example.com', 'https://example.com.evil.test'],
    ['example.com', 'https://example.com:8443'],
    ['example.com', 'https://evil-example.com'],
    ['https://example.com', 'http://example.com'],
    ['example.com:443', 'http://example.com:80'],
    ['*.example.com', 'https://example.com'],
    ['*.example.com', 'https://evilexample.com'],
    ['*.example.com', 'https://example.com.evil.test'],
    ['*.example.com', 'https://a.example.com:8443'],
    ['example.com', 'https://ex\u0430mple.com'], // Cyrillic a
    ['example.com', 'https://example.com@evil.test'],
    ['example.com', 'https://evil.test#@example.com'],
    ['example.com', 'https://evil.test\\@example.com'],
    ['example.com', 'https://example.com.'],
  ])('%s does not cover %s', (pattern, url) => {
    expect(allows(pattern, url)).toBe(false)
  })

  it.each([
    '',
    '*',
    '*.com',
    '*.co.uk',
    '*.github.io',
    '*.localhost',
    '*.xn--55qx5d.cn',
    '*.127.0.0.1',
    '*.*.example.com',
    'a.*.com',
    'https://',
    'ftp://example.com',
    'example.com/path',
    'user@example.com',
    'example.com:0',
    'example.com:65536',
    'example.com:http',
    'exa mple.com',
    'example.com?x',
    'example%2ecom',
    'example.com.',
    '[::1',
    '..',
  ])('refuses the pattern %j', (pattern) => {
    expect(() => parseAllowList({ allow: [pattern], isPublicSuffix })).toThrow(
      expect.objectContaining({ code: 'invalid_argument' }),
    )
  })

  it('2: refuses every wildcard where nobody knows the public suffixes', () => {
    expect(() => parseAllowList({ allow: ['*.example.com'] })).toThrow('public suffixes')
  })

  it('a wildcard covers only what ends in the whole domain, whatever the host', () => {
    const origins = parseAllowList({ allow: ['*.example.com'], isPublicSuffix })
    fc.assert(
      fc.property(
        fc.webUrl({ validSchemes: ['https'] }),
        fc.constantFrom('', '.example.com', 'example.com'),
        (base, end) => {
          const url = new URL(base)
          url.hostname += end
          const expected =
            url.hostname.split('.').slice(-2).join('.') === 'example.com' &&
            url.hostname.split('.').length > 2
          expect(isAllowed(url, origins)).toBe(expected && url.port === '')
        },
      ),
    )
  })
})
