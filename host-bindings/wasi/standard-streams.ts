/** Standard streams of a guest: bytes that were given, and bytes that are kept up to a limit. Never those of the process. */
import { CaissonError } from '../../src/base/errors.ts'
import type { WasiOutput } from '../../src/ports/wasi-host.ts'

/** Keeps what fits; a guest that writes more goes on, and is told nothing: what was dropped is counted. */
export class CapturedOutput {
  readonly #limit: number
  #kept: Uint8Array = new Uint8Array(0)
  #size = 0
  #dropped = 0

  constructor(limitBytes: number) {
    if (!Number.isSafeInteger(limitBytes) || limitBytes < 0) {
      throw new CaissonError('invalid_limit', 'The limit of captured output takes a whole number of bytes.')
    }
    this.#limit = limitBytes
  }

  write(bytes: Uint8Array): void {
    const taken = Math.min(bytes.length, this.#limit - this.#size)
    if (this.#size + taken > this.#kept.length) {
      const grown = new Uint8Array(Math.min(this.#limit, Math.max(1_024, (this.#size + taken) * 2)))
      grown.set(this.#kept.subarray(0, this.#size))
      this.#kept = grown
    }
    this.#kept.set(bytes.subarray(0, taken), this.#size)
    this.#size += taken
    this.#dropped += bytes.length - taken
  }

  get output(): WasiOutput {
    return { bytes: this.#kept.slice(0, this.#size), droppedBytes: this.#dropped }
  }

  /** @throws CaissonError `corrupted` */
  restore({ bytes, droppedBytes }: WasiOutput): void {
    const isOutput = bytes instanceof Uint8Array && bytes.length <= this.#limit
    if (!isOutput || !Number.isSafeInteger(droppedBytes) || droppedBytes < 0) {
      throw new CaissonError('corrupted', 'The captured output in the state of a guest is none.')
    }
    this.#kept = new Uint8Array(bytes)
    this.#size = bytes.length
    this.#dropped = droppedBytes
  }
}

export class GivenInput {
  readonly #bytes: Uint8Array
  #offset = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = new Uint8Array(bytes)
  }

  /** At most `length` bytes, none at the end. */
  read(length: number): Uint8Array {
    const part = this.#bytes.slice(this.#offset, this.#offset + length)
    this.#offset += part.length
    return part
  }

  get remaining(): number {
    return this.#bytes.length - this.#offset
  }

  get offset(): number {
    return this.#offset
  }

  /** @throws CaissonError `corrupted` */
  restore(offset: number): void {
    if (!Number.isSafeInteger(offset) || offset < 0 || offset > this.#bytes.length) {
      throw new CaissonError('corrupted', 'The state of a guest has read more of its input than there is.')
    }
    this.#offset = offset
  }
}

export interface StandardStreams {
  readonly stdin: GivenInput
  readonly stdout: CapturedOutput
  readonly stderr: CapturedOutput
}
