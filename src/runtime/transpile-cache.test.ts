import { describe, expect, it } from 'vitest'
import { TranspileCache } from './transpile-cache.ts'

const transpiled = { status: 'done', code: '1', places: [] } as const

describe('what is known of sources', () => {
  it('invariant 1: another domain never sees it', () => {
    const cache = new TranspileCache()
    cache.learn('a', 'x', { transpiled })
    expect(cache.get('a', 'x')).toEqual({ transpiled })
    expect(cache.get('b', 'x')).toEqual({})
  })

  it('is added to', () => {
    const cache = new TranspileCache()
    cache.learn('a', 'x', { isJavaScript: false })
    cache.learn('a', 'x', { transpiled })
    expect(cache.get('a', 'x')).toEqual({ isJavaScript: false, transpiled })
  })

  it('invariant 2: is bounded in sources, the least recently used goes', () => {
    const cache = new TranspileCache()
    for (let i = 0; i < 256; i += 1) cache.learn('a', `${i}`, { transpiled })
    cache.get('a', '0')
    cache.learn('a', 'one more', { transpiled })
    expect([cache.get('a', '0'), cache.get('a', '1')]).toEqual([{ transpiled }, {}])
  })

  it('invariant 2: is bounded in characters', () => {
    const cache = new TranspileCache()
    const long = 'x'.repeat(3e6)
    cache.learn('a', `${long}1`, { transpiled })
    cache.learn('a', `${long}2`, { transpiled })
    expect([cache.get('a', `${long}1`), cache.get('a', `${long}2`)]).toEqual([{}, { transpiled }])
    cache.learn('a', 'x'.repeat(5e6), { transpiled })
    expect(cache.get('a', 'x'.repeat(5e6))).toEqual({})
  })

  it('invariant 2: is bounded in domains', () => {
    const cache = new TranspileCache()
    for (let i = 0; i < 33; i += 1) cache.learn(`d${i}`, 'x', { transpiled })
    expect([cache.get('d0', 'x'), cache.get('d32', 'x')]).toEqual([{}, { transpiled }])
  })
})
