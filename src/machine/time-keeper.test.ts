import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ManualClock } from '../capability/gate.testkit.ts'
import { TimeKeeper } from './time-keeper.ts'

describe('TimeKeeper', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  function keeper(wallMs: number, idleMs: number) {
    const clock = new ManualClock()
    const elapsed: string[] = []
    const time = new TimeKeeper(clock, wallMs, idleMs, (limit) => elapsed.push(limit))
    const pass = (ms: number): void => {
      clock.ms += ms
      vi.advanceTimersByTime(ms)
    }
    return { clock, elapsed, time, pass }
  }

  it('counts every millisecond as active or idle (invariant 1)', () => {
    const { time, pass } = keeper(1_000, 1_000)
    pass(10)
    time.count('idle')
    pass(20)
    time.count('wall')
    pass(5)
    expect([time.activeMs, time.idleMs]).toEqual([15, 20])
    time.end()
    pass(50)
    expect([time.activeMs, time.idleMs]).toEqual([15, 20])
  })

  it('gives a deadline that idle time moves away', () => {
    const { time, pass, clock } = keeper(100, 1_000)
    pass(30)
    expect(time.deadline).toBe(clock.ms + 70)
    time.count('idle')
    pass(500)
    expect(time.deadline).toBe(clock.ms + 70)
  })

  it('says once which time is up, and not before it is (invariant 2)', () => {
    const { time, pass, elapsed } = keeper(100, 50)
    time.watch()
    pass(99)
    expect(elapsed).toEqual([])
    time.count('idle')
    pass(49)
    time.count('wall')
    expect(elapsed).toEqual([])
    pass(1)
    expect(elapsed).toEqual(['wall'])
    pass(1_000)
    expect(elapsed).toEqual(['wall'])
  })

  it('watches idle time too, longer than timers reach', () => {
    const days = 86_400_000
    const { time, pass, elapsed } = keeper(100, 60 * days)
    time.count('idle')
    time.watch()
    pass(59 * days)
    expect(elapsed).toEqual([])
    pass(days)
    expect(elapsed).toEqual(['idle'])
  })

  it('does not believe a timer that fires early', () => {
    const { time, elapsed, clock } = keeper(100, 50)
    time.watch()
    vi.advanceTimersByTime(100) // the monotonic clock stands still
    expect(elapsed).toEqual([])
    clock.ms += 100
    vi.advanceTimersByTime(100)
    expect(elapsed).toEqual(['wall'])
  })
})
