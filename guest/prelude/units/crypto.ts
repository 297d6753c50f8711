/**
 * `crypto`: bytes of the isolate's recorded stream, and digests that the host computes. Keys are the host's business:
 * what works with them is granted as a capability, so that no secret lies in a guest's memory.
 */
import { dictionary, ownBytesOf, requireArguments } from '../arguments.ts'
import type { Unit } from '../host.ts'
import type { DOMExceptionExports } from './dom-exception.ts'

/** Bytes that `getRandomValues` fills at once, by the standard. */
const MOST_BYTES = 65_536

const DIGESTS = ['SHA-1', 'SHA-256', 'SHA-384', 'SHA-512']

/** Methods of SubtleCrypto that take keys. */
const WITH_KEYS =
  'encrypt,decrypt,sign,verify,generateKey,deriveKey,deriveBits,importKey,exportKey,wrapKey,unwrapKey'.split(
    ',',
  )

const unit: Unit = ({ host, use }) => {
  const exception = (message: string, name: string): Error =>
    new (use('dom-exception') as unknown as DOMExceptionExports).DOMException(message, name)
  /** What a typed array is, undefined for anything else. */
  const kindOf = Object.getOwnPropertyDescriptor(
    Object.getPrototypeOf(Uint8Array.prototype),
    Symbol.toStringTag,
  )?.get as (this: unknown) => string | undefined
  let isOurs = false
  const guard = (): true => {
    if (!isOurs) throw new TypeError('Illegal constructor')
    return true
  }

  class SubtleCrypto {
    readonly #own = guard()

    async digest(algorithm: unknown, data: unknown): Promise<ArrayBuffer> {
      void this.#own
      requireArguments(arguments.length, 2, 'crypto.subtle.digest')
      const name = `${(typeof algorithm === 'string' ? algorithm : dictionary(algorithm, 'digest').name) as string}`
      const bytes = ownBytesOf(data, 'crypto.subtle.digest')
      const known = name.toUpperCase()
      if (!DIGESTS.includes(known)) {
        throw exception(
          `crypto.subtle.digest does not know "${name}". It knows ${DIGESTS.join(', ')}.`,
          'NotSupportedError',
        )
      }
      return host.digest(known, bytes).buffer as ArrayBuffer
    }
  }
  for (const name of WITH_KEYS) {
    const method = {
      async [name](): Promise<never> {
        throw exception(
          `crypto.subtle.${name} is not available in a guest: keys stay with the host. Grant a capability that does it.`,
          'NotSupportedError',
        )
      },
    }[name]
    Object.defineProperty(SubtleCrypto.prototype, name, { value: method, writable: true, configurable: true })
  }

  class Crypto {
    readonly #subtle = guard() && new SubtleCrypto()

    get subtle(): SubtleCrypto {
      return this.#subtle
    }

    getRandomValues(array: unknown): unknown {
      void this.#subtle
      requireArguments(arguments.length, 1, 'crypto.getRandomValues')
      const kind = kindOf.call(array)
      if (kind === undefined || kind.startsWith('Float')) {
        throw exception('crypto.getRandomValues fills typed arrays of integers only.', 'TypeMismatchError')
      }
      const { buffer, byteOffset, byteLength } = array as Uint8Array
      if (byteLength > MOST_BYTES) {
        throw exception(
          `crypto.getRandomValues fills at most ${MOST_BYTES} bytes at once, and got ${byteLength}.`,
          'QuotaExceededError',
        )
      }
      new Uint8Array(buffer, byteOffset, byteLength).set(host.randomBytes(byteLength))
      return array
    }

    randomUUID(): string {
      void this.#subtle
      const bytes = host.randomBytes(16)
      bytes[6] = ((bytes[6] as number) & 0x0f) | 0x40
      bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80
      let text = ''
      for (let i = 0; i < 16; i += 1) {
        if (i === 4 || i === 6 || i === 8 || i === 10) text += '-'
        text += (0x100 | (bytes[i] as number)).toString(16).slice(1)
      }
      return text
    }
  }
  isOurs = true
  const crypto = new Crypto()
  isOurs = false
  return { crypto, Crypto, SubtleCrypto }
}
export default unit
