import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { consoleLines } from './console-lines.ts'
import { jsonText } from './json-text.ts'
import { showValue } from './show-value.ts'
import { sourceExcerpt } from './source-excerpt.ts'
import { styleFor } from './style.ts'
import { wrapText } from './wrap-text.ts'

const plain = styleFor({ write: () => {}, isTerminal: false, columns: 80, colours: false })
const esc = '\x1b[31m\x9b2J\u202e\u2066\u200b\x07'
// biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the point
const OBEYED = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u202a-\u202e\u2066-\u2069]/

describe('showValue', () => {
  it.each<[string, unknown]>([
    ['42', 42],
    ['-0', -0],
    ['10n', 10n],
    ['plain', 'plain'],
    ['null', null],
    ['{ a: 1, "b c": "x" }', { a: 1, 'b c': 'x' }],
    ['[<3 holes>, 3]', Object.assign([], { 3: 3 })],
    ['[<100 holes>]', Object.assign([], { length: 100 })],
    ['Map(1) { "k" => { v: 1 } }', new Map([['k', { v: 1 }]])],
    ['Set(1) { 1 }', new Set([1])],
    ['Date(1970-01-01T00:00:00.000Z)', new Date(0)],
    ['Date(invalid)', new Date(Number.NaN)],
    ['/a/g', /a/g],
    ['Uint8Array(2) [1, 2]', new Uint8Array([1, 2])],
    ['ArrayBuffer(3)', new ArrayBuffer(3)],
    ['[TypeError: no] { cause: 1 }', new TypeError('no', { cause: 1 })],
    ['Object(1)', Object(1)],
    ['{}', {}],
  ])('shows %s', (shown, value) => {
    expect(showValue(value, 80)).toBe(shown)
  })

  it('puts what does not fit on lines of its own, and short things together', () => {
    expect(showValue({ name: 'a'.repeat(20), other: 'b'.repeat(20) }, 40)).toBe(
      `{\n  name: "${'a'.repeat(20)}",\n  other: "${'b'.repeat(20)}"\n}`,
    )
    const numbers = Array.from({ length: 40 }, (_, i) => i)
    expect(showValue(numbers, 40).split('\n').length).toBeLessThan(10)
  })

  it('ends with cycles, with what is shared a million times, and with depth', () => {
    const cycle: unknown[] = []
    cycle.push(cycle)
    expect(showValue(cycle, 80)).toBe('[[circular]]')
    let shared: unknown = 1
    for (let i = 0; i < 20; i++) shared = [shared, shared]
    expect(showValue(shared, 80).length).toBeLessThan(200_000)
    let deep: unknown = 1
    for (let i = 0; i < 400; i++) deep = [deep]
    expect(showValue(deep, 80)).toContain('[deeper]')
    expect(
      showValue(
        Array.from({ length: 9_000 }, (_, i) => i),
        80,
      ),
    ).toContain('more (--json prints everything)')
  })

  it('shows nothing that a terminal would obey, in values, keys, messages and sources', () => {
    const hostile = {
      [esc]: esc,
      e: new Error(esc),
      r: new RegExp(esc.replace('[', '')),
      m: new Map([[esc, new Set([esc])]]),
    }
    expect(showValue(hostile, 80)).not.toMatch(OBEYED)
    expect(showValue(esc, 80)).not.toMatch(OBEYED)
  })
})

describe('jsonText', () => {
  it('is the same value to a parser and harmless to a terminal', () => {
    fc.assert(
      fc.property(
        fc.anything({ maxDepth: 2 }).filter((v) => JSON.stringify(v) !== undefined),
        fc.string({ unit: 'binary' }),
        (value, text) => {
          const json = { value, text, esc }
          expect(JSON.parse(jsonText(json))).toEqual(JSON.parse(JSON.stringify(json)))
          expect(jsonText(json)).not.toMatch(OBEYED)
        },
      ),
    )
  })
})

describe('console lines', () => {
  it('cannot pass for messages of the command, nor move the cursor', () => {
    const text = `first\nerror: fake\r\n${esc}`
    const lines = consoleLines([{ level: 'log', text, atMs: 0 }], 3, plain)
    expect(lines).not.toMatch(OBEYED)
    expect(lines.split('\n').every((line) => line === '' || /^(\[| {6})/.test(line))).toBe(true)
    expect(lines).toContain('3 more did not fit')
  })
})

describe('source excerpts', () => {
  const source = 'const a = 1\n\tfoo.bar(a)\nconst ünicode = "中文" + oops\nconst s = "😀" + later'

  it.each([
    [1, 7, 'a'],
    [2, 2, 'f'],
    [3, 24, 'o'],
    [4, 17, 'l'],
  ])('put the caret under line %d, column %d', (line, column, character) => {
    const [shown = '', caret = ''] = sourceExcerpt(source, line, column, 60)
    const wide = shown.replace(/[中文]/g, (c) => `${c} `)
    expect(wide[caret.indexOf('^')]).toBe(character)
  })

  it('cut long lines around the place', () => {
    const long = `${'x'.repeat(5_000)}HERE${'y'.repeat(5_000)}`
    const [shown = '', caret = ''] = sourceExcerpt(long, 1, 5_001, 50)
    expect(shown.length).toBeLessThanOrEqual(50)
    expect(shown.slice(caret.indexOf('^'))).toMatch(/^HERE/)
  })

  it('say nothing about lines that are not there', () => {
    expect(sourceExcerpt(source, 99, 1, 60)).toEqual([])
    expect(sourceExcerpt('a', 1, 500, 60)).toEqual(['1 | a', '  |  ^'])
  })
})

describe('wrapText', () => {
  it('keeps within the width, but for words that are longer, and loses no word', () => {
    fc.assert(
      fc.property(fc.lorem({ maxCount: 40 }), fc.integer({ min: 12, max: 60 }), (text, width) => {
        const lines = wrapText(text, width)
        expect(lines.every((line) => line.length <= width)).toBe(true)
        expect(lines.join(' ')).toBe(text)
      }),
    )
    expect(wrapText('a /very/long/path b', 6)).toEqual(['a', '/very/long/path', 'b'])
    expect(wrapText('add --grant prices.lookup to it', 12)).toEqual(['add', '--grant prices.lookup', 'to it'])
  })
})
