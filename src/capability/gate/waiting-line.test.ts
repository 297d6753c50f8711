import { describe, expect, it } from 'vitest'
import { StopSource } from '../stop.ts'
import { createWaitingLine } from './waiting-line.ts'

describe('createWaitingLine', () => {
  it('lets in as many as there are places, then one for each that leaves, in order', async () => {
    const line = createWaitingLine(2)
    const stop = new StopSource()
    const inside: number[] = []
    const leaving: (() => void)[] = []
    const entering = [0, 1, 2, 3].map(async (n) => {
      const leave = await line.enter(stop)
      inside.push(n)
      if (leave !== undefined) leaving[n] = leave
    })
    await Promise.all(entering.slice(0, 2))
    expect(inside).toEqual([0, 1])
    leaving[1]?.()
    leaving[1]?.() // a second time gives no second place
    await entering[2]
    expect(inside).toEqual([0, 1, 2])
    leaving[0]?.()
    await entering[3]
    expect(inside).toEqual([0, 1, 2, 3])
  })

  it('lets go who waits when stopped, and the places stay right', async () => {
    const line = createWaitingLine(1)
    const [mine, other] = [new StopSource(), new StopSource()]
    const leave = await line.enter(mine)
    const stopped = line.enter(other)
    const next = line.enter(mine)
    other.stop()
    expect(await stopped).toBeUndefined()
    expect(await line.enter(other)).toBeUndefined()
    leave?.()
    expect(await next).toBeTypeOf('function')
  })
})
