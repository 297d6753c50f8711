import { describe, expect, it } from 'vitest'
import { loadOnce } from './load-once.ts'

describe('loadOnce', () => {
  it('gives the same to all, also to those who ask while it loads', async () => {
    let times = 0
    const load = loadOnce(async () => {
      times += 1
      return { times }
    })
    const [first, second] = await Promise.all([load(), load()])
    expect(first).toBe(second)
    const before = times
    expect(await load()).toBe(first)
    expect(times).toBe(before)
  })

  it('loads again where it failed', async () => {
    let times = 0
    const load = loadOnce(async () => {
      times += 1
      if (times === 1) throw new Error('no network')
      return times
    })
    await expect(load()).rejects.toThrow('no network')
    expect(await load()).toBe(2)
  })
})
