/** `Headers`, `Blob`, `File` and `FormData`. */
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
    `[${source}].map((fn) => { try { fn(); return 'nothing' } catch (error) { return error.name } })`,
  )
}

const PAUSE = 'await new Promise((resolve) => setTimeout(resolve, 1))'

describe('Headers', () => {
  it('combine values by name, in the order of names, but for cookies', async () => {
    const source = `
      const headers = new Headers([['X-b', ' 1 '], ['set-cookie', 'a=1'], ['Accept', 'x'], ['x-B', '2']])
      headers.append('Set-Cookie', 'b=2')
      return [[...headers], headers.get('X-B'), headers.getSetCookie(), [...headers.keys()], headers.has('nothing'), headers.get('nothing')]`
    expect(await evaluate(source)).toEqual([
      [
        ['accept', 'x'],
        ['set-cookie', 'a=1'],
        ['set-cookie', 'b=2'],
        ['x-b', '1, 2'],
      ],
      '1, 2',
      ['a=1', 'b=2'],
      ['accept', 'set-cookie', 'set-cookie', 'x-b'],
      false,
      null,
    ])
  })

  it('are made of an object, of pairs or of headers', async () => {
    const source = `
      const first = new Headers({ B: 1, a: null }), second = new Headers(first)
      second.set('a', 'changed')
      second.delete('B')
      return [[...first], [...second], [...new Headers()], [...new Headers(new Map([['c', 'd']]))]]`
    expect(await evaluate(source)).toEqual([
      [
        ['a', 'null'],
        ['b', '1'],
      ],
      [['a', 'changed']],
      [],
      [['c', 'd']],
    ])
  })

  it('refuse what is no header', async () => {
    const source = `
      () => new Headers(null), () => new Headers('a'), () => new Headers([['a']]), () => new Headers([1]), () => new Headers({ 'a b': '1' }),
      () => new Headers({ '': '1' }), () => new Headers({ a: 'x\\ny' }), () => new Headers({ a: 'x\\0' }), () => new Headers({ a: '\u20ac' }),
      () => new Headers({ [Symbol.for('x')]: '1' }), () => new Headers().get(), () => new Headers().set('a'), () => Headers(),
      () => Headers.prototype.get.call({}, 'a'), () => Headers.prototype.entries.call({}), () => new Headers().forEach(1)`
    expect(await refusals(source)).toEqual(
      source
        .split('() =>')
        .slice(1)
        .map(() => 'TypeError'),
    )
  })

  it('show what changes while they are iterated', async () => {
    const source = `
      const headers = new Headers({ a: '1', c: '3' }), seen = []
      for (const [name] of headers) {
        if (name === 'a') headers.append('b', '2')
        seen.push(name)
      }
      return [seen, String(headers), String(headers.keys()), Object.keys(globalThis).includes('Headers')]`
    expect(await evaluate(source)).toEqual([
      ['a', 'b', 'c'],
      '[object Headers]',
      '[object Headers Iterator]',
      false,
    ])
  })

  it('trim long runs of spaces in time that grows with them only', async () => {
    const source = `new Headers({ a: 'x' + ' '.repeat(200_000) + 'y' }).get('a').length`
    expect(await evaluate(source)).toBe(200_002)
  })
})

describe('Blob', () => {
  it('joins parts of every kind, and copies them', async () => {
    const source = `
      const bytes = new Uint8Array([97, 98, 99])
      const blob = new Blob([bytes, bytes.buffer, new DataView(bytes.buffer, 1, 1), '\u00e9\\ud800', new Blob(['z']), 1, null], { type: 'Text/PLAIN' })
      bytes[0] = 0
      const read = await blob.bytes()
      read.fill(0)
      return [await blob.text(), blob.size, blob.type, (await blob.arrayBuffer()).byteLength, String(blob), new Blob([], { type: '\u00e9' }).type]`
    const text = 'abcabcb\u00e9\ufffdz1null'
    expect(await evaluate(source)).toEqual([text, 18, 'text/plain', 18, '[object Blob]', ''])
  })

  it('slices as arrays do, with places clamped', async () => {
    const source = `
      const blob = new Blob(['0123456789'], { type: 'a' })
      const slices = [[], [2], [-3], [2, 5], [5, 2], [0, -1], [NaN, 4], [1.5, 2.5], [0.5, 3.6], [-100, 100], [0, undefined], [Infinity], [0, 2 ** 60]]
      return [await Promise.all(slices.map((args) => blob.slice(...args).text())), blob.slice().type, blob.slice(0, 1, 'B').type, await blob.slice(2, 8).slice(1, 3).text()]`
    const all = '0123456789'
    const texts = [all, '23456789', '789', '234', '', '012345678', '0123', '', '0123', all, all, '', all]
    expect(await evaluate(source)).toEqual([texts, '', 'b', '34'])
  })

  it('reads without a byte order mark, and writes line endings as asked', async () => {
    const source = `[
      await new Blob(['\\ufeffa']).text(), (await new Blob(['\\ufeffa']).bytes()).length, await new Blob(['a\\r\\nb\\rc\\n'], { endings: 'native' }).text(),
      await new Blob([new Uint8Array([0xff, 97])]).text(), await new Blob().text(),
    ]`
    expect(await evaluate(source)).toEqual(['a', 4, 'a\nb\nc\n', '\ufffda', ''])
  })

  it('refuses what is no sequence, and receivers that are none', async () => {
    const source = `
      () => new Blob(null), () => new Blob('text'), () => new Blob({}), () => new Blob([], 1), () => new Blob([], { endings: 'x' }), () => Blob(),
      () => Object.create(Blob.prototype).size, () => Blob.prototype.slice.call({}), () => new File([]), () => new File(undefined, 'a')`
    expect(await refusals(source)).toEqual(
      source
        .split('() =>')
        .slice(1)
        .map(() => 'TypeError'),
    )
    expect(await evaluate(`Blob.prototype.text.call({}).catch((error) => error.name)`)).toBe('TypeError')
  })

  it('holds no more than the memory of its guest', async () => {
    const limits = { memoryBytes: 32 * 1024 * 1024 }
    const parts = `const part = new Uint8Array(1_000_000); const blob = new Blob(Array(50).fill(part)); return blob.size`
    const whole = await runtime.run(parts, { limits })
    expect(whole.status).not.toBe('completed')
    expect(JSON.stringify(whole)).toMatch(/memory_limit|memory|RangeError/)
    const shared = `const blob = new Blob([new Uint8Array(8_000_000)]); const slices = []; for (let i = 0; i < 1_000; i += 1) slices.push(blob.slice(i)); return slices.length`
    expect(await runtime.run(shared, { limits })).toMatchObject({ status: 'completed', value: 1_000 })
  })

  it('is read after a capture as before', () => {
    const [stayed, moved] = movedOrNot(`
      const blob = new File(['first ', 'second'], 'a.txt')
      const first = await blob.slice(0, 6).text()
      ${PAUSE}
      return [first, await blob.slice(6).text(), blob.name]`)
    expect(stayed).toMatchObject({ status: 'completed', value: ['first ', 'second', 'a.txt'] })
    expect(moved).toEqual(stayed)
  })
})

describe('File', () => {
  it('is a blob with a name and a time', async () => {
    const source = `
      const file = new File(['x'], 'a/\\ud800', { type: 'T', lastModified: 5.9 })
      const now = new File([], 'b').lastModified
      return [file.name, file.lastModified, file.type, file instanceof Blob, String(file), Math.abs(now - Date.now()) < 5, String(file.slice())]`
    expect(await evaluate(source)).toEqual(['a/\ufffd', 5, 't', true, '[object File]', true, '[object Blob]'])
  })
})

describe('FormData', () => {
  it('keeps entries in order, and replaces the first of a name', async () => {
    const source = `
      const form = new FormData()
      for (const [name, value] of [['a', 1], ['b', '\\ud800'], ['a', null], ['c', 'x']]) form.append(name, value)
      const before = [...form]
      form.set('a', 'new')
      form.delete('c')
      form.set('d', 'last')
      const seen = []
      form.forEach(function (value, name, self) { seen.push(name + value + (self === form) + this.mark) }, { mark: '!' })
      return [before, [...form], form.get('a'), form.get('zz'), form.getAll('a'), form.has('c'), seen, String(form), String(form.entries())]`
    expect(await evaluate(source)).toEqual([
      [
        ['a', '1'],
        ['b', '\ufffd'],
        ['a', 'null'],
        ['c', 'x'],
      ],
      [
        ['a', 'new'],
        ['b', '\ufffd'],
        ['d', 'last'],
      ],
      'new',
      null,
      ['new'],
      false,
      ['anewtrue!', 'b\ufffdtrue!', 'dlasttrue!'],
      '[object FormData]',
      '[object FormData Iterator]',
    ])
  })

  it('makes files of blobs', async () => {
    const source = `
      const form = new FormData(), file = new File(['f'], 'own', { lastModified: 7, type: 'x/y' })
      form.append('blob', new Blob(['b'], { type: 't' }))
      form.append('named', new Blob(['b']), 'n')
      form.append('file', file)
      form.append('renamed', file, 'other')
      const about = (one) => [one instanceof File, one.name, one.type, one === file]
      return [...form.values()].map(about).concat([[form.get('renamed').lastModified, await form.get('renamed').text()]])`
    expect(await evaluate(source)).toEqual([
      [true, 'blob', 't', false],
      [true, 'n', '', false],
      [true, 'own', 'x/y', true],
      [true, 'other', 'x/y', false],
      [7, 'f'],
    ])
  })

  it('refuses forms, names of files without a blob, and receivers that are none', async () => {
    const source = `
      () => new FormData({}), () => new FormData().append('a'), () => new FormData().append('a', 'b', 'c'), () => new FormData().set('a', {}, 'c'),
      () => FormData.prototype.has.call({}, 'a'), () => FormData.prototype.keys.call({})`
    expect(await refusals(source)).toEqual(
      source
        .split('() =>')
        .slice(1)
        .map(() => 'TypeError'),
    )
  })

  it('is iterated after a capture as before', () => {
    const [stayed, moved] = movedOrNot(`
      const form = new FormData(), headers = new Headers({ a: '1', b: '2' })
      form.append('a', new Blob(['in a blob']))
      form.append('b', 'text')
      const entries = form.entries(), pairs = headers.entries()
      const first = [await entries.next().value[1].text(), pairs.next().value]
      ${PAUSE}
      return [first, entries.next().value, pairs.next().value, entries.next().done]`)
    expect(stayed).toMatchObject({
      status: 'completed',
      value: [['in a blob', ['a', '1']], ['b', 'text'], ['b', '2'], true],
    })
    expect(moved).toEqual(stayed)
  })
})
