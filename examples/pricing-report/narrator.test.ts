import { describe, expect, it } from 'vitest'
import { createNarrator, oneLine } from './narrator.ts'

function intent(id: number, capability: string, args: unknown) {
  return { id, capability, args, effect: 'read', idempotencyKey: '', askedAtMs: 0 } as const
}

describe('narrator', () => {
  it('tells calls and their answers with times', () => {
    const lines: string[] = []
    let now = 5_000
    const narrator = createNarrator(
      (line) => lines.push(line),
      () => now,
    )
    narrator.say('database', 'ready')
    now += 1_250
    narrator.intent(intent(1, 'sql.query', { text: 'SELECT *\n  FROM products' }))
    now += 40
    narrator.result({ id: 1, ok: true, value: { rows: [{}, {}] } })
    narrator.intent(intent(2, 'net.fetch', { url: 'http://127.0.0.1:1234/prices?sku=A%2CB' }))
    narrator.result({ id: 2, ok: true, value: { status: 429, headers: { 'retry-after': '1' } } })
    narrator.intent(intent(3, 'sql.query', { text: 'SELECT nothing' }))
    narrator.result({ id: 3, ok: false, code: 'denied', message: 'no such column' })
    expect(lines).toEqual([
      '  0.00 s  database         ready',
      '  1.29 s  sql.query        SELECT * FROM products -> 2 rows (40 ms)',
      '  1.29 s  net.fetch        /prices?sku=A,... (2) -> 429, Retry-After: 1 (0 ms)',
      '  1.29 s  sql.query        SELECT nothing -> denied: no such column (0 ms)',
    ])
  })

  it('shortens what was asked rather than what came of it', () => {
    const lines: string[] = []
    const narrator = createNarrator(
      (line) => lines.push(line),
      () => 0,
      60,
    )
    narrator.intent(intent(1, 'sql.query', { text: 'SELECT sku, name, category FROM products' }))
    narrator.result({ id: 1, ok: true, value: { rows: [{}, {}] } })
    expect(lines).toEqual(['  0.00 s  sql.query        SELECT sku, nam… -> 2 rows (0 ms)'])
  })

  it('breaks lines of its own between words, and goes on under where they began', () => {
    const lines: string[] = []
    const narrator = createNarrator(
      (line) => lines.push(line),
      () => 0,
      60,
    )
    narrator.say(
      'process 1',
      `pid 7; a checkpoint every 4 answers, every call in a log at ${'/path'.repeat(8)}`,
    )
    narrator.plain('A pricing report, made by a program that nobody has read before it ran.')
    expect(lines).toEqual([
      '  0.00 s  process 1        pid 7; a checkpoint every 4',
      '                           answers, every call in a log at',
      `                           ${'/path'.repeat(8)}`,
      'A pricing report, made by a program that nobody has read',
      'before it ran.',
    ])
  })

  it('lets nothing from the program break out of its line', () => {
    expect(oneLine('a\u001b[2Jb\r\nc\u2028d')).toBe('a [2Jb c d')
    expect(oneLine('x'.repeat(500), 60)).toHaveLength(60)
  })
})
