/**
 * A response body that is still coming in: read a little ahead, and given out by position.
 *
 * A read says at which byte it begins. That says, too, that everything before has arrived: it is forgotten then, and
 * not earlier. So a read whose answer was lost can be made again.
 *
 * Invariants
 * 1. The bytes at a position never change: a read gives those that are meant or fails; nothing is skipped.
 * 2. At most `AHEAD_BYTES` and one piece of the transport's are held, unless the whole rest was asked for.
 * 3. No connection is held when the body was received whole, failed or was closed.
 * 4. What came before a failure can be read; then every read fails.
 */
import { CaissonError } from '../../src/base/errors.ts'
import { bodyTooLarge } from './response-body.ts'
import type { HttpResponse } from './transport.ts'

/** The most that one read gives, unless it asks for all. */
export const CHUNK_BYTES = 65_536

/** One chunk that is on its way to the guest, and one that waits. */
const AHEAD_BYTES = 2 * CHUNK_BYTES

/** What a read gives. */
export interface Chunk {
  /** At least one, unless the body has ended. */
  readonly bytes: Uint8Array
  /** Whether nothing follows. */
  readonly done: boolean
}

export interface StreamedBodyOptions {
  /** Bytes in all; at the first one too many the body fails as `result_too_large`. */
  readonly maxBytes: number
  /** Ends the exchange. Called once, however that was. */
  readonly close: () => void
}

export class StreamedBody {
  readonly #maxBytes: number
  readonly #close: () => void
  #buffer = new Uint8Array(0)
  /** Position of the first byte that is held, and how many are. */
  #from = 0
  #length = 0
  #ahead = AHEAD_BYTES
  #state: 'open' | 'ended' | 'closed' = 'open'
  #failure: CaissonError | undefined
  /** Woken whenever something changed. */
  readonly #waiting = new Set<() => void>()

  constructor(body: HttpResponse['body'], { maxBytes, close }: StreamedBodyOptions) {
    this.#maxBytes = maxBytes
    this.#close = close
    void this.#receive(body)
  }

  /**
   * The next bytes from `offset` on, as soon as there are some; with `whole`, all of them to the end.
   * @throws CaissonError `body_lost` for a position that was given out and acknowledged, or was never reached, and for
   *   a body that is closed; `aborted`; what the transport says
   */
  async read(offset: number, whole: boolean, signal: AbortSignal): Promise<Chunk> {
    this.#acknowledge(offset)
    if (whole) this.#ahead = Number.POSITIVE_INFINITY
    this.#tell()
    while (this.#state === 'open' && (whole || this.#length === 0)) await this.#change(signal)
    // Somebody else may have read on meanwhile.
    this.#acknowledge(offset)
    const length = whole ? this.#length : Math.min(this.#length, CHUNK_BYTES)
    if (this.#failure !== undefined && (whole || length === 0)) throw this.#failure
    const done = this.#state === 'ended' && this.#failure === undefined && length === this.#length
    return { bytes: this.#buffer.slice(0, length), done }
  }

  /** Ends the exchange; what was not read is dropped, and reads at work fail. */
  close(): void {
    const wasOpen = this.#state === 'open'
    this.#state = 'closed'
    this.#buffer = new Uint8Array(0)
    this.#length = 0
    if (wasOpen) this.#close()
    this.#tell()
  }

  /** Forgets what lies before `offset`. */
  #acknowledge(offset: number): void {
    const read = offset - this.#from
    if (this.#state === 'closed' || read < 0 || read > this.#length) throw bodyLost()
    this.#buffer.copyWithin(0, read, this.#length)
    this.#from = offset
    this.#length -= read
  }

  async #receive(body: HttpResponse['body']): Promise<void> {
    let received = 0
    try {
      for await (const piece of body) {
        received += piece.byteLength
        if (received > this.#maxBytes) throw bodyTooLarge(this.#maxBytes)
        this.#append(piece)
        this.#tell()
        while (this.#state === 'open' && this.#length >= this.#ahead) await this.#change()
        if (this.#state !== 'open') return
      }
    } catch (error) {
      this.#failure = CaissonError.is(error)
        ? error
        : new CaissonError('network_failed', 'The response broke off.', { cause: error })
    }
    if (this.#state !== 'open') return
    this.#state = 'ended'
    this.#close()
    this.#tell()
  }

  #append(piece: Uint8Array): void {
    const needed = this.#length + piece.byteLength
    if (needed > this.#buffer.byteLength) {
      // Doubled: a body of single bytes must not cost a buffer for each.
      const larger = new Uint8Array(Math.max(needed, 2 * this.#buffer.byteLength))
      larger.set(this.#buffer.subarray(0, this.#length))
      this.#buffer = larger
    }
    this.#buffer.set(piece, this.#length)
    this.#length = needed
  }

  #tell(): void {
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const wake of waiting) wake()
  }

  #change(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const abort = (): void => {
        this.#waiting.delete(wake)
        reject(new CaissonError('aborted', 'The read was aborted.', { cause: signal?.reason }))
      }
      const wake = (): void => {
        signal?.removeEventListener('abort', abort)
        resolve()
      }
      if (signal?.aborted === true) return abort()
      this.#waiting.add(wake)
      signal?.addEventListener('abort', abort, { once: true })
    })
  }
}

/** What is said of every body that a guest cannot read, whatever the reason: it learns nothing of others' bodies. */
export function bodyLost(): CaissonError {
  return new CaissonError(
    'body_lost',
    'The body is not there any more: it was read, closed or left unread for too long, or the process or turn that received it has ended. Make the request again.',
  )
}
