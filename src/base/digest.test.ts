import { describe, expect, it } from 'vitest'
import { sha256, sha256Hasher } from './digest.ts'

const ABC = 'sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'

describe('sha256', () => {
  it('gives the published digest of "abc"', () => {
    expect(sha256(new TextEncoder().encode('abc'))).toBe(ABC)
  })

  it('gives the same for pieces as for the whole', () => {
    const text = (value: string): Uint8Array => new TextEncoder().encode(value)
    expect(sha256Hasher().update(text('a')).update(text('')).update(text('bc')).digest()).toBe(ABC)
  })
})
