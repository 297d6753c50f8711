/** `TextEncoder` and `TextDecoder` of the Encoding standard, for UTF-8, UTF-16LE and windows-1252 (`latin1`). */
import { bytesOf, dictionary } from '../arguments.ts'
import type { Unit } from '../host.ts'

/** All labels of the standard for these encodings. */
const LABELS: Readonly<Record<string, string>> = {
  'utf-8': 'unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf-8 utf8 x-unicode20utf8',
  'utf-16le': 'csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16 utf-16le',
  'windows-1252':
    'ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591 iso_8859-1 iso_8859-1:1987 l1 latin1 us-ascii windows-1252 x-cp1252',
}

/** What other units need beside the globals. */
export interface EncodingExports {
  readonly TextDecoder: new (
    label?: unknown,
    options?: unknown,
  ) => { readonly encoding: string; readonly fatal: boolean; readonly ignoreBOM: boolean }
  /** As `decoder.decode(bytes, { stream })`, whatever became of that. */
  readonly decodeNext: (decoder: object, bytes: unknown, stream: boolean) => string
}

const unit: Unit<EncodingExports & Record<string, unknown>> = ({ host, primordials }) => {
  class TextEncoder {
    readonly #encoding = 'utf-8'

    get encoding(): string {
      return this.#encoding
    }

    encode(input: unknown = ''): Uint8Array {
      void this.#encoding
      return host.encodeText(`${input as string}`)
    }

    encodeInto(source: unknown, destination: unknown): { read: number; written: number } {
      void this.#encoding
      if (!(destination instanceof Uint8Array)) {
        throw new TypeError('TextEncoder.encodeInto takes a string and a Uint8Array.')
      }
      const room = destination.length
      // No character takes fewer bytes than it has units, and none is cut in two.
      const text = `${source as string}`.slice(0, room + 1)
      const bytes = host.encodeText(text)
      let written = Math.min(bytes.length, room)
      while (written < bytes.length && ((bytes[written] as number) & 0xc0) === 0x80) written -= 1
      const fits = bytes.subarray(0, written)
      destination.set(fits)
      const read = written === bytes.length ? text.length : (decode(fits, 'utf-8', false) as string).length
      return { read, written }
    }
  }

  class TextDecoder {
    readonly #encoding: string
    readonly #fatal: boolean
    readonly #ignoreBOM: boolean
    /** Whether the next call goes on where the last one ended. */
    #streaming = false
    #markSeen = false
    /** Bytes that are the beginning of a character. */
    #rest: Uint8Array = new Uint8Array()

    constructor(label: unknown = 'utf-8', options: unknown = null) {
      const name = `${label as string}`.replace(/^[\t\n\f\r ]+|[\t\n\f\r ]+$/g, '').toLowerCase()
      const encoding = Object.keys(LABELS).find((key) => LABELS[key]?.split(' ').includes(name))
      if (encoding === undefined) {
        throw new RangeError(
          `TextDecoder does not know "${name}". It knows utf-8, utf-16le and latin1 (windows-1252).`,
        )
      }
      const { fatal, ignoreBOM } = dictionary(options, 'TextDecoder')
      this.#encoding = encoding
      this.#fatal = Boolean(fatal)
      this.#ignoreBOM = Boolean(ignoreBOM)
    }

    get encoding(): string {
      return this.#encoding
    }

    get fatal(): boolean {
      return this.#fatal
    }

    get ignoreBOM(): boolean {
      return this.#ignoreBOM
    }

    decode(input: unknown = undefined, options: unknown = null): string {
      const streaming = Boolean(dictionary(options, 'TextDecoder.decode').stream)
      const given = input === undefined ? new Uint8Array() : bytesOf(input, 'TextDecoder.decode')
      if (!this.#streaming) {
        this.#rest = new Uint8Array()
        this.#markSeen = false
      }
      this.#streaming = streaming
      const bytes = join(this.#rest, given)
      const whole = streaming ? bytes.length - unfinished(bytes, this.#encoding) : bytes.length
      this.#rest = bytes.slice(whole)
      const text = decode(whole === bytes.length ? bytes : bytes.slice(0, whole), this.#encoding, this.#fatal)
      if (text === undefined) {
        this.#streaming = false
        throw new TypeError(`The bytes are no ${this.#encoding}.`)
      }
      if (this.#markSeen || text === '') return text
      this.#markSeen = true
      const hasMark = !this.#ignoreBOM && this.#encoding !== 'windows-1252' && text.charCodeAt(0) === 0xfeff
      return hasMark ? text.slice(1) : text
    }
  }

  function decode(bytes: Uint8Array, encoding: string, fatal: boolean): string | undefined {
    return bytes.length === 0 ? '' : host.decodeText(new Uint8Array(bytes), encoding, fatal)
  }

  const { decode: decodeWith } = TextDecoder.prototype
  return {
    TextEncoder,
    TextDecoder,
    decodeNext: (decoder, bytes, stream) =>
      primordials.apply(decodeWith, decoder, [bytes, { stream }]) as string,
  }
}
export default unit

function join(a: Uint8Array, b: Uint8Array): Uint8Array {
  const both = new Uint8Array(a.length + b.length)
  both.set(a)
  both.set(b, a.length)
  return both
}

/** How many bytes at the end are the beginning of a character that may go on. */
function unfinished(bytes: Uint8Array, encoding: string): number {
  const { length } = bytes
  if (encoding === 'utf-16le') {
    const odd = length % 2
    const last = bytes[length - odd - 1] ?? 0
    return last >= 0xd8 && last <= 0xdb ? odd + 2 : odd
  }
  if (encoding === 'utf-8') {
    for (let count = 1; count <= Math.min(3, length); count += 1) {
      const byte = bytes[length - count] as number
      if (byte >= 0xc2) return goesOn(bytes.subarray(length - count)) ? count : 0
      if (byte < 0x80) break
    }
  }
  return 0
}

/** Whether a first byte and those after it, fewer than it asks for, can become a character. */
function goesOn(start: Uint8Array): boolean {
  const [lead, second] = start as unknown as [number, number | undefined]
  if (lead > 0xf4 || start.length >= (lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4)) return false
  if (second === undefined) return true
  const least = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80
  const most = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf
  return second >= least && second <= most
}
