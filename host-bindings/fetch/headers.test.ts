import { describe, expect, it } from 'vitest'
import { checkRequestHeaders, visibleHeaders } from './headers.ts'

const denied = expect.objectContaining({ code: 'denied' })

describe('request headers of a program', () => {
  it('go through in lower case', () => {
    const checked = checkRequestHeaders({ Accept: ' text/html ', 'X-Api-Key': 'k', 'If-None-Match': '"e"' })
    expect({ ...checked }).toEqual({ accept: 'text/html', 'x-api-key': 'k', 'if-none-match': '"e"' })
  })

  it.each([
    'Host',
    'COOKIE',
    'Authorization',
    'Proxy-Authorization',
    'proxy-anything',
    'Connection',
    'Content-Length',
    'Transfer-Encoding',
    'TE',
    'Trailer',
    'Upgrade',
    'Expect',
    'Via',
    'X-Forwarded-For',
    'Forwarded',
    'Sec-Fetch-Site',
    'X-HTTP-Method-Override',
    'Accept-Encoding',
    'Origin',
    'Referer',
    'a b',
    'a:',
    'a\r\nhost',
    'ä',
    '',
  ])('1: %j is refused by name', (name) => {
    expect(() => checkRequestHeaders({ [name]: 'x' })).toThrow(denied)
  })

  it.each(['a\r\nHost: evil', 'a\nb', 'a\0', '\u{1f600}', 'a\u2028'])(
    '2: the value %j is refused',
    (value) => {
      expect(() => checkRequestHeaders({ 'x-a': value })).toThrow(denied)
    },
  )

  it('are refused twice in different case, and in masses', () => {
    expect(() => checkRequestHeaders({ 'x-a': '1', 'X-A': '2' })).toThrow(denied)
    const many = Object.fromEntries(Array.from({ length: 65 }, (_, index) => [`x-${index}`, '']))
    expect(() => checkRequestHeaders(many)).toThrow(denied)
    expect(() => checkRequestHeaders({ 'x-a': 'x'.repeat(20_000) })).toThrow(denied)
  })

  it('carry credentials only where the grant says so', () => {
    expect({ ...checkRequestHeaders({ Authorization: 'Bearer x' }, ['authorization']) }).toEqual({
      authorization: 'Bearer x',
    })
  })
})

describe('response headers', () => {
  it('3: come without cookies and without what describes an encoding that is undone', () => {
    const visible = visibleHeaders([
      ['Set-Cookie', 'a=1'],
      ['set-cookie2', 'a=1'],
      ['Content-Encoding', 'gzip'],
      ['Content-Length', '10'],
      ['Retry-After', '3'],
      ['Vary', 'a'],
      ['vary', 'b'],
      ['__proto__', 'x'],
    ])
    expect(Object.entries(visible)).toEqual([
      ['retry-after', '3'],
      ['vary', 'a, b'],
      ['__proto__', 'x'],
    ])
  })
})
