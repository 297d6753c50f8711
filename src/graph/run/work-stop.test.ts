/** What stops work: told at once, and with a signal for who wants one. */
import { describe, expect, it } from 'vitest'
import { WorkStop } from './work-stop.ts'

describe('what stops work', () => {
  it('tells who listens, once, and its signal, whether that was asked for before or after', () => {
    const stop = new WorkStop()
    let told = 0
    stop.onStop(() => {
      told += 1
    })
    const { signal } = stop
    expect(signal.aborted).toBe(false)
    stop.abort('why')
    stop.abort('why again')
    expect([told, stop.stopped, signal.aborted, signal.reason]).toEqual([1, true, true, 'why'])

    const late = new WorkStop()
    late.abort('before')
    expect([late.signal.aborted, late.signal.reason]).toEqual([true, 'before'])
  })
})
