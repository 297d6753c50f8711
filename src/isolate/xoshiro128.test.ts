import { expect, it } from 'vitest'
import { Xoshiro128 } from './xoshiro128.ts'

it('gives the outputs of the reference implementation', () => {
  const random = new Xoshiro128([1, 2, 3, 4])
  const outputs = Array.from({ length: 10 }, () => random.nextUint32())
  expect(outputs).toEqual([
    641, 1573767, 3222811527, 3517856514, 836907274, 4247214768, 3867114732, 1355841295, 495546011, 621204420,
  ])
})

it('goes on from its state', () => {
  const random = new Xoshiro128([1, 2, 3, 4])
  random.nextFloat()
  expect(new Xoshiro128(random.state()).nextFloat()).toBe(random.nextFloat())
})

it('is never stuck at zero', () => {
  const random = new Xoshiro128([0, 0, 0, 0])
  const floats = Array.from({ length: 1000 }, () => random.nextFloat())
  expect(new Set(floats).size).toBe(1000)
  expect(floats.every((float) => float >= 0 && float < 1)).toBe(true)
})
