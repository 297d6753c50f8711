/** `Request` and `Response`, with their bodies. */
import { afterAll, describe, expect, it } from 'vitest'
import { openRuntime } from '../../src/entry/node.ts'
import { movedOrNot } from './moved-or-not.testkit.ts'

const runtime = await openRuntime()
afterAll(() => runtime.close())

async function evaluate(source: string, input?: unknown): Promise<unknown> {
  const outcome = await runtime.run(source, { input })
  if (outcome.status !== 'completed') throw new Error(JSON.stringify(outcome))
  return outcome.value
}

/** What each of the functions that `source` lists throws. */
function refusals(source: string): Promise<unknown> {
  return evaluate(
    `Promise.all([${source}].map(async (fn) => { try { await fn(); return 'nothing' } catch (error) { return error.name } }))`,
  )
}

describe('a body', () => {
  it('is read as what is asked for, whatever it was made of', async () => {
    const source = `
      const bytes = new Uint8Array([0, 97, 98, 0])
      const bodies = ['t\u00e9xt', bytes.subarray(1, 3), bytes.buffer.slice(1, 3), new Blob(['blob'], { type: 'a/b' }), new URLSearchParams({ a: '1 2' }), 12, new Blob(['x'])]
      return Promise.all(bodies.map(async (body) => {
        const response = new Response(body)
        return [response.headers.get('content-type'), await response.clone().text(), (await response.arrayBuffer()).byteLength]
      }))`
    expect(await evaluate(source)).toEqual([
      ['text/plain;charset=UTF-8', 't\u00e9xt', 5],
      [null, 'ab', 2],
      [null, 'ab', 2],
      ['a/b', 'blob', 4],
      ['application/x-www-form-urlencoded;charset=UTF-8', 'a=1+2', 5],
      ['text/plain;charset=UTF-8', '12', 2],
      [null, 'x', 1],
    ])
  })

  it('is a copy of the bytes that it was made of, and so is what is read', async () => {
    const source = `
      const bytes = new Uint8Array([97]), response = new Response(bytes), other = response.clone()
      bytes[0] = 98
      ;(await response.bytes())[0] = 99
      return other.text()`
    expect(await evaluate(source)).toBe('a')
  })

  it('is read once: the second time rejects, as does what reads something else', async () => {
    const source = `
      const response = new Response('{"a":1}'), before = response.bodyUsed
      const first = await response.json()
      const refused = []
      for (const name of ['text', 'json', 'bytes', 'blob', 'arrayBuffer', 'formData']) refused.push(await response[name]().catch((error) => error.name))
      try { response.clone() } catch (error) { refused.push(error.name) }
      const empty = new Response()
      return [before, response.bodyUsed, first, new Set(refused).size, refused[0], [await empty.text(), await empty.text(), empty.bodyUsed],
        await Response.prototype.text.call({}).catch((error) => error.name), await new Response('no').json().catch((error) => error.name)]`
    expect(await evaluate(source)).toEqual([
      ...[false, true, { a: 1 }, 1, 'TypeError', ['', '', false]],
      ...['TypeError', 'SyntaxError'],
    ])
  })

  it('is a blob of its type', async () => {
    const source = `
      const typeOf = async (type) => (await new Response('x', { headers: { 'content-type': type } }).blob()).type
      return Promise.all(['Text/HTML; Charset="a b"', 'nonsense', 'a/b;c=d;c=e;f'].map(typeOf))`
    expect(await evaluate(source)).toEqual(['text/html;charset="a b"', '', 'a/b;c=d'])
  })

  it('carries a form there and back', async () => {
    const source = `
      const form = new FormData()
      form.append('a "quoted"\\n', 'line\\nline\\r\\n')
      form.append('file', new File([new Uint8Array([13, 10, 45, 45, 0, 255])], 'n\u00e4me".bin', { type: 'X/y' }))
      form.append('empty', new Blob([]), '')
      const request = new Request('https://a.example/', { method: 'post', body: form })
      const type = request.headers.get('content-type')
      const read = await request.formData()
      const file = read.get('file')
      return [/^multipart\\/form-data; boundary=-+\\w+$/.test(type), [...read.keys()], read.get('a "quoted"\\r\\n'), file.name, file.type, [...await file.bytes()], read.get('empty').size, read.get('empty').type]`
    expect(await evaluate(source)).toEqual([
      true,
      ['a "quoted"\r\n', 'file', 'empty'],
      'line\r\nline\r\n',
      'n\u00e4me".bin',
      'x/y',
      [13, 10, 45, 45, 0, 255],
      0,
      'application/octet-stream',
    ])
  })

  it('reads forms that others wrote, and refuses what is none', async () => {
    const source = `
      const read = (type, body) => new Response(body, { headers: { 'content-type': type } }).formData().then((form) => [...form], (error) => error.name)
      const part = (head, text) => '--b\\r\\n' + head + '\\r\\n\\r\\n' + text + '\\r\\n'
      const name = 'Content-Disposition: form-data; name='
      return Promise.all([
        read('application/x-www-form-urlencoded', '?a=1&b=%C3%A9+x'),
        read('multipart/form-data; boundary="b"', part(name + 'bare', '1') + part('content-DISPOSITION: form-data; name="q"', '') + '--b--'),
        read('multipart/form-data; boundary=b', '--b--\\r\\n'),
        read('multipart/form-data', part(name + '"a"', '1') + '--b--'), read('multipart/form-data; boundary=b', part(name + '"a"', '1')),
        read('multipart/form-data; boundary=b', part('X: y', '1') + '--b--'), read('multipart/form-data; boundary=b', ''), read('text/plain', 'a=1'), read('', ''),
      ])`
    expect(await evaluate(source)).toEqual([
      [
        ['?a', '1'],
        ['b', '\u00e9 x'],
      ],
      [
        ['bare', '1'],
        ['q', ''],
      ],
      [],
      ...Array.from({ length: 6 }, () => 'TypeError'),
    ])
  })
})

describe('Response', () => {
  it('has the shapes of the standard', async () => {
    const source = `
      const about = (r) => [r.type, r.status, r.ok, r.statusText, r.url, r.redirected, [...r.headers]]
      return [new Response('x', { status: 404, statusText: 'No', headers: { a: '1' } }), Response.error(), Response.redirect('https://a.example/b c', 301), Response.json({ a: [1] }, { status: 201, headers: { 'content-type': 'x/y' } }), Response.json(null)].map(about).concat([String(new Response()), Object.keys(new Response()), await Response.json({ a: [1] }).text()])`
    expect(await evaluate(source)).toEqual([
      [
        'default',
        404,
        false,
        'No',
        '',
        false,
        [
          ['a', '1'],
          ['content-type', 'text/plain;charset=UTF-8'],
        ],
      ],
      ['error', 0, false, '', '', false, []],
      ['default', 301, false, '', '', false, [['location', 'https://a.example/b%20c']]],
      ['default', 201, true, '', '', false, [['content-type', 'x/y']]],
      ['default', 200, true, '', '', false, [['content-type', 'application/json']]],
      '[object Response]',
      [],
      '{"a":[1]}',
    ])
  })

  it('refuses by the errors of the standard', async () => {
    const source = `
      () => new Response('', { status: 199 }), () => new Response('', { status: 600 }), () => Response.redirect('https://a.example/', 200),
      () => new Response('', { status: 204 }), () => new Response('', { statusText: 'a\\n' }), () => Response.json(() => 1), () => Response.json(),
      () => Response.redirect('/relative'), () => Response.error().headers.set('a', '1'), () => new Response('', 1), () => Response(), () => Response.prototype.status`
    expect(await refusals(source)).toEqual([
      ...['RangeError', 'RangeError', 'RangeError'],
      ...Array.from({ length: 9 }, () => 'TypeError'),
    ])
  })
})

describe('Request', () => {
  it('takes a URL or another request, whose body it takes over', async () => {
    const source = `
      const first = new Request('https://A.example/x y#f', { method: 'put', body: 'b', headers: { a: '1' }, redirect: 'manual' })
      const second = new Request(first, { headers: { c: '2' } }), copy = second.clone()
      return [first.url, first.method, first.redirect, first.bodyUsed, [...second.headers], second.method, second.redirect, await second.text(), await copy.text(),
        new Request(new URL('https://a.example')).url, new Request('https://a.example', { method: 'patch' }).method, new Request('https://a.example').duplex, String(copy)]`
    expect(await evaluate(source)).toEqual([
      ...['https://a.example/x%20y#f', 'PUT', 'manual', true, [['c', '2']], 'PUT', 'manual', 'b', 'b'],
      ...['https://a.example/', 'patch', 'half', '[object Request]'],
    ])
  })

  it('has a signal that aborts with the one that it was given', async () => {
    const source = `
      const controller = new AbortController(), request = new Request('https://a.example', { signal: controller.signal })
      const { signal } = request, plain = new Request('https://a.example').signal
      controller.abort('why')
      return [signal.aborted, signal.reason, signal === request.signal, plain.aborted, request.clone().signal.aborted, new Request(request, { signal: null }).signal.aborted]`
    expect(await evaluate(source)).toEqual([true, 'why', true, false, true, false])
  })

  it('refuses what is no request', async () => {
    const source = `
      () => new Request(), () => new Request('/relative'), () => new Request('https://u:p@a.example'), () => new Request('https://a.example', { method: 'TRACE' }),
      () => new Request('https://a.example', { method: 'a b' }), () => new Request('https://a.example', { body: 'x' }), () => new Request('https://a.example', { method: 'HEAD', body: 'x' }),
      () => new Request('https://a.example', { signal: {} }), () => new Request('https://a.example', { redirect: 'x' }), () => Request.prototype.url,
      async () => { const r = new Request('https://a.example', { method: 'POST', body: 'x' }); await r.text(); new Request(r) }`
    expect(await refusals(source)).toEqual(Array.from({ length: 11 }, () => 'TypeError'))
  })
})

describe('messages', () => {
  it('are read after a capture as before', () => {
    const source = `
      const form = new FormData()
      form.append('f', new Blob(['in a file']))
      const read = new Response('read'), unread = new Response(form)
      await read.text()
      await new Promise((resolve) => setTimeout(resolve, 1))
      return [read.bodyUsed, unread.bodyUsed, await (await unread.formData()).get('f').text(), await read.text().catch((error) => error.name)]`
    const [stayed, moved] = movedOrNot(source)
    expect(stayed).toMatchObject({ status: 'completed', value: [true, false, 'in a file', 'TypeError'] })
    expect(moved).toEqual(stayed)
  })
})
