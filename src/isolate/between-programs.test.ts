import { afterAll, describe, expect, it } from 'vitest'
import type { MachineImage, Turn } from '../machine/turn.ts'
import { base, FREELY, newIsolate, openPool, startOf } from './isolate.testkit.ts'

const pool = openPool()
afterAll(() => pool.close())

/** Runs programs in one guest, each in an instance of its own. */
function runAll(...sources: readonly string[]): {
  readonly turns: readonly Turn[]
  readonly image: MachineImage
} {
  const turns: Turn[] = []
  let pages = base.pages
  let image: MachineImage | undefined
  for (const source of sources) {
    const isolate = newIsolate(pool)
    turns.push(isolate.start({ ...startOf(source), keep: true, ...(image && { after: image }) }, FREELY))
    const { memoryBytes, changes, state } = isolate.capture()
    pages = pages.with(changes)
    image = { memoryBytes, changes: [...pages.changesSince(base.pages)], state }
    isolate.dispose()
  }
  return { turns, image: image as MachineImage }
}

const valuesOf = (...sources: readonly string[]): unknown =>
  runAll(...sources).turns.map((turn) => (turn.status === 'completed' ? (turn.unread ?? turn.value) : turn))

describe('programs that follow each other in one guest', () => {
  it('see what the ones before them left', () => {
    expect(valuesOf('var a = 1; function next() { return ++a }', 'next()', 'await next()', 'a')).toEqual([
      undefined,
      2,
      3,
      3,
    ])
  })

  it('go on with the time and the randomness of the guest', () => {
    const [first, second, third] = valuesOf('Math.random()', 'Math.random()', 'Date.now()') as number[]
    expect(first).not.toBe(second)
    expect(third).toBeGreaterThan(Date.UTC(2026, 0, 1) - 1)
  })

  it('are given an input of their own, and no other', () => {
    expect(valuesOf('typeof input')).toEqual(['undefined'])
  })

  it('complete with what only the guest can hold, and say why it is not here', () => {
    const [made, used] = valuesOf('var f = () => 7; f', 'f()') as [string, number]
    expect(made).toMatch(/function/)
    expect(used).toBe(7)
  })

  it('leave nothing of their own behind: sixty weigh what three do', () => {
    const { image: few } = runAll(...Array.from({ length: 3 }, () => '[1, 2, 3]'))
    const { image: many } = runAll(...Array.from({ length: 60 }, () => '[1, 2, 3]'))
    expect([...many.changes].length - [...few.changes].length).toBeLessThan(3)
  })

  it('cannot be captured after one that failed, or one that is not kept', () => {
    for (const start of [{ ...startOf('throw 1'), keep: true }, startOf('1')]) {
      const isolate = newIsolate(pool)
      isolate.start(start, FREELY)
      expect(() => isolate.capture()).toThrow(expect.objectContaining({ code: 'isolate_destroyed' }))
      isolate.dispose()
    }
  })
})
