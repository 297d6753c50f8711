/**
 * What the host computes for the standard library of a guest (`guest/prelude/units`): what the guest could do by
 * itself, but slowly or only with its own code, and what the host alone has: the clock and the random stream.
 *
 * Invariants
 * 1. No guest code runs: arguments are read from the guest's heap, and answers are copies.
 * 2. Arguments are hostile, whatever the prelude sends: a guest with a corrupted heap can send anything else.
 * 3. Each call costs fuel for its bytes, and is bounded in them, before the guest has anything of it.
 */
import { sha1 } from '@noble/hashes/legacy.js'
import { sha256, sha384, sha512 } from '@noble/hashes/sha2.js'
import { CaissonError } from '../base/errors.ts'
import { DEFAULT_VALUE_LIMITS } from '../values/limits.ts'
import type { ConsoleLog } from './console-log.ts'
import { CALL_FUEL_PER_BYTE, chargeReading } from './host-fuel.ts'
import { HOST_FUNCTIONS } from './host-functions.ts'
import type { PooledInstance } from './instance-pool.ts'
import type { LogicalClock } from './logical-clock.ts'
import type { RandomStreams } from './randomness.ts'
import { decodeText } from './text-decoding.ts'

/** Fuel for a byte that is hashed, and for one of the random stream, which is a hash too. */
const DIGEST_FUEL_PER_BYTE = 40
const RANDOM_FUEL_PER_BYTE = 160

/** Bytes that `crypto.getRandomValues` gives at once. */
const MOST_RANDOM_BYTES = 65_536

/** Bytes that are hashed before the host looks whether the guest has to stop. */
const DIGEST_PIECE = 262_144

const DIGESTS: Readonly<Record<string, typeof sha1 | typeof sha256 | typeof sha512>> = {
  'SHA-1': sha1,
  'SHA-256': sha256,
  'SHA-384': sha384,
  'SHA-512': sha512,
}

interface LibraryParts {
  readonly pooled: PooledInstance
  readonly clock: LogicalClock
  readonly log: ConsoleLog
  /** The streams, made when they are first asked for. */
  readonly random: () => RandomStreams
  /** A stack as its author is shown it. */
  readonly shownStack: (stack: string) => string
}

export class LibraryServices {
  readonly #pooled: PooledInstance
  readonly #clock: LogicalClock
  readonly #log: ConsoleLog
  readonly #random: () => RandomStreams
  readonly #shownStack: (stack: string) => string

  constructor({ pooled, clock, log, random, shownStack }: LibraryParts) {
    this.#pooled = pooled
    this.#clock = clock
    this.#log = log
    this.#random = random
    this.#shownStack = shownStack
  }

  /**
   * Answers host function `fn` with a cell that the guest owns, or 0 for undefined.
   * @throws CaissonError `corrupted` for a function that is none, or arguments that the prelude never sends
   */
  call(fn: number, count: number, values: number): number {
    switch (fn) {
      case HOST_FUNCTIONS.indentLog:
        this.#log.indent(wholeNumber(this.#argument(0, count, values)))
        return 0
      case HOST_FUNCTIONS.inspect: {
        const text = this.#pooled.reader.inspectAll(values, count, this.#shownStack)
        chargeReading(this.#pooled.instance.gauge, text.length)
        return this.#answer(text)
      }
      case HOST_FUNCTIONS.now:
        return this.#pooled.writer.writeNumber(this.#clock.readSinceOrigin())
      case HOST_FUNCTIONS.timeOrigin:
        return this.#pooled.writer.writeNumber(this.#clock.originMs)
      case HOST_FUNCTIONS.clone:
        return this.#refusing(() => this.#answer(this.#argument(0, count, values, 'value')))
      case HOST_FUNCTIONS.randomBytes:
        return this.#randomBytes(wholeNumber(this.#argument(0, count, values)))
      case HOST_FUNCTIONS.digest:
        return this.#refusing(() =>
          this.#digest(this.#argument(0, count, values), this.#argument(1, count, values)),
        )
      case HOST_FUNCTIONS.encodeText:
        return this.#refusing(() => {
          const text = this.#argument(0, count, values)
          if (typeof text !== 'string') throw unasked()
          return this.#answer(new TextEncoder().encode(text))
        })
      case HOST_FUNCTIONS.decodeText:
        return this.#refusing(() => {
          const bytes = this.#argument(0, count, values)
          if (!(bytes instanceof Uint8Array)) throw unasked()
          const encoding = this.#argument(1, count, values)
          return this.#answer(decodeText(bytes, String(encoding), this.#argument(2, count, values) === true))
        })
      default:
        throw new CaissonError('corrupted', `The guest called host function ${fn}.`)
    }
  }

  /** A copy of argument `index`, which the guest has paid for. */
  #argument(index: number, count: number, values: number, root = 'argument'): unknown {
    if (index >= count) throw unasked()
    try {
      return this.#pooled.reader.read(values + 8 * index, DEFAULT_VALUE_LIMITS, root)
    } finally {
      chargeReading(this.#pooled.instance.gauge, this.#pooled.reader.lastWork)
    }
  }

  #answer(value: unknown): number {
    if (value === undefined) return 0
    const { writer, instance } = this.#pooled
    const cell = writer.write(value, DEFAULT_VALUE_LIMITS)
    instance.gauge.charge(writer.lastBytes * CALL_FUEL_PER_BYTE)
    return cell
  }

  #randomBytes(count: number): number {
    if (count < 0 || count > MOST_RANDOM_BYTES) throw unasked()
    this.#pooled.instance.gauge.charge(count * RANDOM_FUEL_PER_BYTE)
    const bytes = new Uint8Array(count)
    this.#random().fillCrypto(bytes)
    return this.#answer(bytes)
  }

  #digest(name: unknown, bytes: unknown): number {
    if (typeof name !== 'string' || !Object.hasOwn(DIGESTS, name) || !(bytes instanceof Uint8Array)) {
      throw unasked()
    }
    const { gauge } = this.#pooled.instance
    const hash = (DIGESTS[name] as typeof sha256).create()
    for (let at = 0; at < bytes.length && gauge.stopReason === undefined; at += DIGEST_PIECE) {
      const piece = bytes.subarray(at, at + DIGEST_PIECE)
      hash.update(piece)
      gauge.charge(piece.length * DIGEST_FUEL_PER_BYTE)
      gauge.hostWorked()
    }
    return this.#answer(hash.digest())
  }

  /** Values that are refused, or too large, become errors of the guest's. */
  #refusing(answer: () => number): number {
    try {
      return answer()
    } catch (error) {
      if (!CaissonError.is(error) || error.code === 'corrupted') throw error
      return this.#pooled.throwFailure({ code: error.code, message: error.message, name: 'RangeError' })
    }
  }
}

function wholeNumber(value: unknown): number {
  if (!Number.isSafeInteger(value)) throw unasked()
  return value as number
}

function unasked(): CaissonError {
  return new CaissonError('corrupted', 'The guest called a host function as its prelude never does.')
}
