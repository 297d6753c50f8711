import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { clipText, escapeHtml, escapeText } from './escape-text.ts'

describe('escapeText', () => {
  it('shows escape sequences, controls and bidi marks instead of obeying them', () => {
    const cases: [string, string][] = [
      ['\u001b[2J', '\\x1b[2J'],
      ['\u001b]0;title\u0007', '\\x1b]0;title\\x07'],
      ['\u009b31m', '\\x9b31m'],
      ['a\rb\nc\td', 'a\\x0db\\x0ac\\x09d'],
      ['user\u202egnp.exe', 'user\\u202egnp.exe'],
      ['\u2066x\u2069\u200b\u200d\ufeff', '\\u2066x\\u2069\\u200b\\u200d\\ufeff'],
      ['a\u2028b\u2029', 'a\\u2028b\\u2029'],
      ['\ud800', '\\ud800'],
      ['\u{e0041}', '\\u{e0041}'],
      ['\0', '\\x00'],
    ]
    for (const [text, shown] of cases) expect(escapeText(text)).toBe(shown)
  })

  it('keeps what people write', () => {
    for (const text of ['Müller & Söhne', '日本語', '👍🏽', 'שלום', 'C:\\dir\\file', 'a\u0301', 'مرحبا']) {
      expect(escapeText(text)).toBe(text)
    }
    expect(escapeText('a\n\tb\r', 'lines')).toBe('a\n\tb\\x0d')
  })

  it('leaves nothing that a terminal or a reader would obey (invariant 1)', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(escapeText(text)).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Cs}]/u)
      }),
    )
  })

  it('never makes two texts look the same (invariant 2): it can be undone', () => {
    const undo = (shown: string): string =>
      shown.replace(
        /(\\+)(?:x([0-9a-f]{2})|u([0-9a-f]{4})|u\{([0-9a-f]+)\}|([xu]))/g,
        (all, run: string, ...hex) => {
          const literal = '\\'.repeat(Math.floor(run.length / 2))
          if (run.length % 2 === 0) return literal + all.slice(run.length)
          return (
            literal +
            String.fromCodePoint(
              Number.parseInt(
                hex.slice(0, 3).find((digits) => digits),
                16,
              ),
            )
          )
        },
      )
    const unit = fc.oneof(
      fc.constantFrom('\\', 'x', 'u', '1', 'b', '{', '}', '0'),
      fc.constantFrom('\u001b', '\u202e', '\u0000', '\ud800', '\u{e0041}', '\n'),
    )
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 12 }), (text) => {
        expect(undo(escapeText(text))).toBe(text)
      }),
      { numRuns: 3000 },
    )
  })

  it('takes time in proportion to the text', () => {
    expect(escapeText(`${'\\'.repeat(500_000)}y`).length).toBe(500_001)
    expect(escapeText('\\x'.repeat(200_000)).length).toBe(600_000)
  })
})

describe('escapeHtml', () => {
  it('makes text inert as content and in quoted attributes (invariant 3)', () => {
    expect(escapeHtml('<img src=x onerror="alert(1)">\'`&')).toBe(
      '&lt;img src=x onerror=&quot;alert(1)&quot;&gt;&#39;&#96;&amp;',
    )
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(escapeHtml(text)).not.toMatch(/[<>"'`]/)
      }),
    )
  })
})

describe('clipText', () => {
  it('says how much was cut', () => {
    expect(clipText('abcdef', 6)).toBe('abcdef')
    expect(clipText('abcdef', 2)).toBe('ab… (4 more)')
  })
})
