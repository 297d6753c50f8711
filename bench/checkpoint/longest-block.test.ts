import { setImmediate as pause } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { longestBlock } from './longest-block.ts'

/** Clocks that move only when somebody works. */
function manualClocks() {
  let wall = 0
  let cpu = 0
  return {
    wallNs: () => wall,
    cpuNs: () => cpu,
    work: (wallNs: number, cpuNs = wallNs): void => {
      wall += wallNs
      cpu += cpuNs
    },
  }
}

describe('longestBlock', () => {
  it('is the longest piece of work between two turns of the event loop', async () => {
    const clocks = manualClocks()
    const longest = await longestBlock(async () => {
      for (const ns of [20, 70, 30]) {
        clocks.work(ns)
        await pause()
      }
    }, clocks)
    expect(longest).toBe(70)
  })

  it('counts what follows the last turn', async () => {
    const clocks = manualClocks()
    const longest = await longestBlock(async () => {
      clocks.work(10)
      await pause()
      clocks.work(90)
    }, clocks)
    expect(longest).toBe(90)
  })

  it('does not count the time in which others had the processor, nor work of other threads while it waits', async () => {
    const clocks = manualClocks()
    const longest = await longestBlock(async () => {
      clocks.work(500, 40)
      await pause()
      clocks.work(30, 900)
    }, clocks)
    expect(longest).toBe(40)
  })

  it('stops looking when the work fails', async () => {
    await expect(longestBlock(() => Promise.reject(new Error('no')))).rejects.toThrow('no')
  })
})
