/** Text and bytes: `TextEncoder`, `TextDecoder`, `atob`, `btoa`. */
import { afterAll, describe, expect, it } from 'vitest'
import { openRuntime } from '../../src/entry/node.ts'

const runtime = await openRuntime()
afterAll(() => runtime.close())

async function evaluate(source: string, input?: unknown): Promise<unknown> {
  const outcome = await runtime.run(source, { input })
  if (outcome.status !== 'completed') throw new Error(JSON.stringify(outcome))
  return outcome.value
}

describe('TextEncoder', () => {
  it('writes UTF-8, with lone surrogates replaced', async () => {
    const source = `['', 'a', '\u00e9\u20ac', '\u{1F600}', '\\ud800x', undefined].map((text) => [...new TextEncoder().encode(text)])`
    expect(await evaluate(source)).toEqual([
      [],
      [97],
      [0xc3, 0xa9, 0xe2, 0x82, 0xac],
      [0xf0, 0x9f, 0x98, 0x80],
      [0xef, 0xbf, 0xbd, 120],
      [],
    ])
  })

  it('writes into an array no more than whole characters', async () => {
    const source = `[0, 1, 2, 3, 4, 7, 9].map((room) => {
      const into = new Uint8Array(room)
      const { read, written } = new TextEncoder().encodeInto('a\u00e9\u{1F600}z', into)
      return [read, written, into.at(-1)]
    })`
    expect(await evaluate(source)).toEqual([
      [0, 0, undefined],
      [1, 1, 97],
      [1, 1, 0],
      [2, 3, 0xa9],
      [2, 3, 0],
      [4, 7, 0x80],
      [5, 8, 0],
    ])
  })
})

describe('TextDecoder', () => {
  it('reads what it is named by', async () => {
    const source = `[
      new TextDecoder().decode(new Uint8Array([0xe2, 0x82, 0xac])),
      new TextDecoder('utf-16').decode(new Uint16Array([0x41, 0xd83d, 0xde00, 0xd800])),
      new TextDecoder('latin1').decode(new Uint8Array([0x80, 0x81, 0xe9, 0x9f])),
      new TextDecoder(' ISO-8859-1\\n').encoding,
      new TextDecoder('unicode-1-1-utf-8').encoding,
      new TextDecoder('utf8').decode(new DataView(new Uint8Array([1, 0x61, 0x62, 2]).buffer, 1, 2)),
    ]`
    expect(await evaluate(source)).toEqual([
      '\u20ac',
      'A\u{1F600}\ufffd',
      '\u20ac\u0081\u00e9\u0178',
      'windows-1252',
      'utf-8',
      'ab',
    ])
    await expect(evaluate(`new TextDecoder('shift_jis')`)).rejects.toThrow('RangeError')
  })

  it('replaces malformed bytes, or refuses them', async () => {
    const bytes = new Uint8Array([0x61, 0xf0, 0x9f, 0x62, 0xff, 0xed, 0xa0, 0x80])
    expect(await evaluate('new TextDecoder().decode(input)', bytes)).toBe(new TextDecoder().decode(bytes))
    expect(
      await evaluate(
        `try { new TextDecoder('utf-8', { fatal: true }).decode(input) } catch (error) { return error.name }`,
        bytes,
      ),
    ).toBe('TypeError')
  })

  it('drops a byte order mark once, unless it is told not to', async () => {
    const source = `
      const marked = new Uint8Array([0xef, 0xbb, 0xbf, 0xef, 0xbb, 0xbf, 0x61])
      const stream = new TextDecoder()
      const parts = [stream.decode(marked.slice(0, 2), { stream: true }), stream.decode(marked.slice(2), { stream: true }), stream.decode()]
      return [new TextDecoder().decode(marked), new TextDecoder('utf-8', { ignoreBOM: true }).decode(marked), parts]`
    expect(await evaluate(source)).toEqual(['\ufeffa', '\ufeff\ufeffa', ['', '\ufeffa', '']])
  })

  it.each(['utf-8', 'utf-16le'])('gives the same text in pieces of any size: %s', async (encoding) => {
    const bytes = new Uint8Array([
      0x41, 0, 0x3d, 0xd8, 0, 0xde, 0xe2, 0x82, 0xac, 0xf0, 0x9f, 0x98, 0x80, 0xc3, 0x28, 0xf0, 0x80, 0xe0,
      0xa0,
    ])
    const source = `
      const { bytes, encoding } = input
      return [1, 2, 3, 4, 5].map((size) => {
        const decoder = new TextDecoder(encoding)
        let text = ''
        for (let i = 0; i < bytes.length; i += size) text += decoder.decode(bytes.subarray(i, i + size), { stream: true })
        return text + decoder.decode()
      })`
    const whole = new TextDecoder(encoding).decode(bytes)
    expect(await evaluate(source, { bytes, encoding })).toEqual([whole, whole, whole, whole, whole])
  })

  it('takes no more of a buffer than the view shows, however often', async () => {
    const source = `
      const view = new Uint8Array(2_000_000).subarray(1_000_000, 1_000_010)
      for (let i = 0; i < 500; i += 1) new TextDecoder().decode(view)
      return true`
    expect(await evaluate(source)).toBe(true)
  })
})

describe('atob and btoa', () => {
  it('are the inverse of each other for every byte', async () => {
    const source = `
      const text = String.fromCharCode(...Array.from({ length: 256 }, (_, i) => i))
      return [0, 1, 2].map((cut) => atob(btoa(text.slice(cut))) === text.slice(cut))`
    expect(await evaluate(source)).toEqual([true, true, true])
  })

  it('take what the standard takes', async () => {
    const source = `[atob(' Y\\tQ == '), atob('YQ'), atob(null).length, btoa(undefined), btoa(null), atob.length, btoa.name]`
    expect(await evaluate(source)).toEqual(['a', 'a', 3, 'dW5kZWZpbmVk', 'bnVsbA==', 1, 'btoa'])
  })

  it('refuse the rest by the names of the standard', async () => {
    const source = `[() => btoa(), () => atob(), () => btoa('\u20ac'), () => atob('a'), () => atob('ab=c'), () => atob('YQ===')].map((fn) => {
      try { return fn() } catch (error) { return [error.name, error.code, error instanceof DOMException] }
    })`
    const invalid = ['InvalidCharacterError', 5, true]
    expect(await evaluate(source)).toEqual([
      ['TypeError', undefined, false],
      ['TypeError', undefined, false],
      invalid,
      invalid,
      invalid,
      invalid,
    ])
  })
})
