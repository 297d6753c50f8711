import { expect, it } from 'vitest'
import { ASYNC_DISPOSE, DISPOSE } from './disposal.ts'

it('the keys of disposal are those of the runtime where it has them', () => {
  expect(DISPOSE).toBe(Symbol.dispose)
  expect(ASYNC_DISPOSE).toBe(Symbol.asyncDispose)
})

it('an object that has them is a Disposable to the type checker', () => {
  let disposed = 0
  const thing: Disposable = { [DISPOSE]: () => void disposed++ }
  thing[Symbol.dispose]()
  expect(disposed).toBe(1)
})
