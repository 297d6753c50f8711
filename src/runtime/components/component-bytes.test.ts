import { describe, expect, it } from 'vitest'
import { sha256, sha256Bytes } from '../../base/digest.ts'
import { componentBytes } from './component-bytes.ts'

const never = (): boolean => false
const always = (): boolean => true
const given = (): Uint8Array => Uint8Array.of(1, 2, 3, 4)

describe('the bytes of a component', () => {
  it('are those that were given, whatever becomes of them', () => {
    const bytes = given()
    const { digest, copy } = componentBytes(bytes, sha256Bytes, never)
    bytes[0] = 9
    expect(digest).toBe(sha256(given()))
    expect(copy()).toEqual(given())
    expect(copy().buffer).not.toBe(bytes.buffer)
  })

  it('are copied where they are a view, as a Buffer slices', () => {
    const bytes = Buffer.from([0, 1, 2, 3, 4]).subarray(1)
    const { digest, copy } = componentBytes(bytes, sha256Bytes, never)
    bytes[3] = 9
    expect(digest).toBe(sha256(given()))
    expect(copy()).toEqual(given())
  })

  it('of a known component are copied when they are needed all the same, and refused when they changed', () => {
    const still = given()
    expect(componentBytes(still, sha256Bytes, always).copy()).toEqual(given())
    const changing = given()
    const { digest, copy } = componentBytes(changing, sha256Bytes, always)
    expect(digest).toBe(sha256(given()))
    changing[2] = 9
    expect(copy).toThrow(expect.objectContaining({ code: 'invalid_argument' }))
    changing[2] = 3
    const own = copy()
    changing[2] = 9
    expect(own).toEqual(given())
    expect(copy()).toBe(own)
  })

  it('that other threads may write to are copied before they are looked at', () => {
    const shared = new Uint8Array(new SharedArrayBuffer(4))
    shared.set(given())
    const seen: Uint8Array[] = []
    const look = (bytes: Uint8Array): Uint8Array => {
      seen.push(bytes)
      // As another thread may, right behind what was read.
      shared[0] = 9
      return sha256Bytes(bytes)
    }
    const { digest, copy } = componentBytes(shared, look, never)
    expect(digest).toBe(sha256(given()))
    expect(copy()).toEqual(given())
    expect(seen.every(({ buffer }) => buffer instanceof ArrayBuffer)).toBe(true)
  })
})
