import { describe, expect, it } from 'vitest'
import { StopSource } from '../capability/stop.ts'
import { GuestLine } from './guest-line.ts'
import { LinePlace } from './line-place.ts'

/** A line with one place, which a guest has, and who else got it. */
function held() {
  const line = new GuestLine(1)
  void line.enter('a')
  const entered: string[] = []
  const enter = async (name: string): Promise<void> => {
    await line.enter('a')
    entered.push(name)
  }
  return { line, place: new LinePlace(line, 'a', true), stop: new StopSource(), entered, enter }
}

const soon = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0))

describe('the place of a guest that sleeps', () => {
  it('is free while it sleeps, and taken again afterwards (invariant 1)', async () => {
    const { line, place, stop, entered, enter } = held()
    await place.asleep(async () => {
      await enter('other')
      line.leave('a')
    }, stop)
    const next = enter('next')
    await soon()
    expect(entered).toEqual(['other'])
    place.leave()
    await next
    expect(entered).toEqual(['other', 'next'])
  })

  it('is waited for when others have it', async () => {
    const { line, place, stop, enter } = held()
    let awake = false
    const sleeping = place
      .asleep(() => enter('other'), stop)
      .then(() => {
        awake = true
      })
    await soon()
    expect(awake).toBe(false)
    line.leave('a')
    await sleeping
    expect(awake).toBe(true)
  })

  it('is given back exactly once where the guest is stopped while it waits for it (invariant 2)', async () => {
    const { line, place, stop, entered, enter } = held()
    const sleeping = place.asleep(() => enter('other'), stop)
    await soon()
    stop.stop()
    await sleeping
    place.leave()
    line.leave('a')
    await soon()
    await enter('one')
    const two = enter('two')
    await soon()
    expect(entered).toEqual(['other', 'one'])
    line.leave('a')
    await two
  })

  it('is not asked for by a guest that was stopped in its sleep', async () => {
    const { line, place, stop, entered, enter } = held()
    await place.asleep(async () => stop.stop(), stop)
    place.leave()
    await enter('other')
    expect(entered).toEqual(['other'])
    line.leave('a')
  })

  it('is held during each step of a guest that lives already', async () => {
    const { line, place, enter, entered } = held()
    place.leave()
    let second: Promise<void> | undefined
    await place.atWork(async () => {
      second = enter('other')
      await soon()
      expect(entered).toEqual([])
    })
    await second
    expect(entered).toEqual(['other'])
    line.leave('a')
  })
})
