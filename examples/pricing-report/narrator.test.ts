import { describe, expect, it } from 'vitest'
import { createNarrator, oneLine, shortUrl } from './narrator.ts'

describe('narrator', () => {
  it('tells who and what, with the time', () => {
    const lines: string[] = []
    let now = 5_000
    const narrator = createNarrator(
      (line) => lines.push(line),
      () => now,
    )
    now += 1_250
    narrator.say('frozen', 'Whoever drove the run stopped.')
    expect(lines).toEqual(['  1.25 s  frozen           Whoever drove the run stopped.'])
  })

  it('breaks lines between words, and goes on under where they began', () => {
    const lines: string[] = []
    const narrator = createNarrator(
      (line) => lines.push(line),
      () => 0,
      50,
    )
    narrator.say('stands', 'interrupted: 12 nodes done, 3 under way')
    expect(lines).toHaveLength(2)
    expect(lines[1]).toMatch(/^ {27}\S/)
    expect(lines.every((line) => line.length <= 50)).toBe(true)
  })

  it('shows foreign text on one line, without control characters', () => {
    expect(oneLine('a\u001b[31m\n\tb\u2028c')).toBe('a [31m b c')
    expect(oneLine('x'.repeat(100), 10)).toBe(`${'x'.repeat(9)}…`)
  })

  it('shows a list in a query by its first item', () => {
    expect(shortUrl('/prices?sku=A,B,C')).toBe('/prices?sku=A,... (3)')
    expect(shortUrl('/rates')).toBe('/rates')
  })
})
