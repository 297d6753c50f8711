import { describe, expect, it } from 'vitest'
import { LogKeeper } from './log-keeper.ts'

const line = (text: string) => ({ level: 'log' as const, text, atMs: 0 })

describe('LogKeeper', () => {
  it('counts UTF-8 bytes and 16 for each line', () => {
    for (const [text, bytes] of [
      ['abc', 3],
      ['ä', 2],
      ['€', 3],
      ['😀', 4],
      ['', 0],
    ] as const) {
      const exact = new LogKeeper(16 + bytes)
      exact.add([line(text)])
      expect(exact.dropped).toBe(0)
      const short = new LogKeeper(15 + bytes)
      short.add([line(text)])
      expect(short.dropped).toBe(1)
    }
  })

  it('keeps no line after the first that did not fit', () => {
    const logs = new LogKeeper(40)
    logs.add([line('a'), line('x'.repeat(100)), line('b')])
    expect(logs.entries).toEqual([line('a')])
    expect(logs.dropped).toBe(2)
  })
})
