import { describe, expect, it, vi } from 'vitest'
import { inputIssues, invokeBinding } from '../invoke-binding.testkit.ts'
import { createFixedClock } from '../system/system-clock.ts'
import { createClockCapabilities } from './clock-capabilities.ts'

describe('clock capabilities', () => {
  it('tell the time of the clock they were given', () => {
    const capabilities = createClockCapabilities({ clock: createFixedClock(42) })
    expect(invokeBinding(capabilities, 'clock.now', {})).toBe(42)
  })

  it('sleep as long as asked', async () => {
    vi.useFakeTimers()
    try {
      const done = vi.fn()
      const sleep = invokeBinding(createClockCapabilities(), 'clock.sleep', { ms: 1000 })
      void Promise.resolve(sleep).then(done)
      await vi.advanceTimersByTimeAsync(999)
      expect(done).not.toHaveBeenCalled()
      await vi.advanceTimersByTimeAsync(1)
      expect(done).toHaveBeenCalledWith(null)
    } finally {
      vi.useRealTimers()
    }
  })

  it('stop sleeping when aborted, before or during the sleep, and leave no timer', async () => {
    vi.useFakeTimers()
    try {
      const capabilities = createClockCapabilities()
      const controller = new AbortController()
      const sleep = invokeBinding(capabilities, 'clock.sleep', { ms: 1000 }, { signal: controller.signal })
      controller.abort()
      await expect(sleep).rejects.toMatchObject({ code: 'aborted' })
      const late = invokeBinding(capabilities, 'clock.sleep', { ms: 1 }, { signal: controller.signal })
      await expect(late).rejects.toMatchObject({ code: 'aborted' })
      expect(vi.getTimerCount()).toBe(0)
    } finally {
      vi.useRealTimers()
    }
  })

  it('refuse a sleep longer than the cap, and an impossible cap', () => {
    const capabilities = createClockCapabilities({ maxSleepMs: 10 })
    expect(inputIssues(capabilities, 'clock.sleep', { ms: 11 })).toContain('from 0 to 10')
    expect(() => createClockCapabilities({ maxSleepMs: Number.POSITIVE_INFINITY })).toThrow(
      expect.objectContaining({ code: 'invalid_argument' }),
    )
  })
})
