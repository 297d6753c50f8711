/**
 * The random bytes of a WASI guest: SHA-256 in counter mode over its seed, so that any place of the stream can be gone
 * to without drawing what came before.
 */
import type { WasiRandom } from '../../ports/wasi-host.ts'

const BLOCK = 32

export class ModuleRandom implements WasiRandom {
  readonly #sha256: (bytes: Uint8Array) => Uint8Array
  /** The seed, and room for the number of the block. */
  readonly #input: Uint8Array
  #drawn = 0n

  constructor(seed: Uint8Array, sha256: (bytes: Uint8Array) => Uint8Array) {
    this.#sha256 = sha256
    this.#input = new Uint8Array(seed.length + 8)
    this.#input.set(seed)
  }

  bytes(length: number): Uint8Array {
    const bytes = new Uint8Array(length)
    for (let filled = 0; filled < length; ) {
      const from = Number(this.#drawn % BigInt(BLOCK))
      const part = this.#block(this.#drawn / BigInt(BLOCK)).subarray(from, from + length - filled)
      bytes.set(part, filled)
      filled += part.length
      this.#drawn += BigInt(part.length)
    }
    return bytes
  }

  position(): bigint {
    return this.#drawn
  }

  moveTo(position: bigint): void {
    this.#drawn = position
  }

  /** The stream of another seed, from its beginning. */
  restart(seed: Uint8Array): void {
    this.#input.set(seed)
    this.#drawn = 0n
  }

  #block(number: bigint): Uint8Array {
    new DataView(this.#input.buffer).setBigUint64(this.#input.length - 8, number, true)
    return this.#sha256(this.#input)
  }
}
