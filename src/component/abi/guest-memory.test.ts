import { describe, expect, it } from 'vitest'
import { GuestMemory } from './guest-memory.ts'

describe('memory of a guest', () => {
  const memory = new WebAssembly.Memory({ initial: 1 })

  it('is read only where all of a value is there, and aligned', () => {
    const guest = new GuestMemory(memory, undefined)
    guest.check(65_532, 4, 4)
    guest.check(65_536, 0, 1)
    expect(() => guest.check(65_533, 4, 1)).toThrow('outside')
    expect(() => guest.check(2 ** 32 - 4, 8, 4)).toThrow('outside')
    expect(() => guest.check(6, 4, 4)).toThrow('not aligned')
  })

  it('is not where an allocator says that room is which there is not', () => {
    const allocating = (pointer: unknown): GuestMemory => new GuestMemory(memory, () => pointer)
    expect(allocating(64).allocate(8, 64)).toBe(64)
    expect(() => allocating(-8).allocate(8, 64)).toThrow('outside')
    expect(() => allocating(12).allocate(8, 64)).toThrow('not aligned')
    expect(() => allocating('64').allocate(8, 64)).toThrow('no address')
  })
})
