/**
 * `Blob` and `File` of the File API.
 *
 * Invariants
 * 1. Their bytes lie in the memory of the guest and count there. No guest code gets at them: what is read is a copy.
 * 2. Bytes never change, so that slices share them with what they are cut from.
 */
import { bytesOf, dictionary, requireArguments, usvString } from '../arguments.ts'
import type { Unit } from '../host.ts'
import { decodeUtf8 } from '../utf8.ts'
import type { BodyStreamExports } from './body-streams.ts'

/** What other units need of it. */
export interface BlobExports {
  /** The bytes of a blob, not copied; undefined for anything else. */
  readonly bytesOfBlob: (value: object) => Uint8Array | undefined
  readonly typeOfBlob: (blob: object) => string
  /** A blob of these bytes, which nobody else may change. */
  readonly blobOf: (bytes: Uint8Array, type: string) => object
  /** A file of these bytes, which nobody else may change. */
  readonly fileOf: (bytes: Uint8Array, type: string, name: string) => object
  /** A file of a blob: itself, if it is one that has this name or any will do. */
  readonly asFile: (blob: object, name: string | undefined) => object
  readonly nameOfFile: (file: object) => string
}

interface Content {
  readonly bytes: Uint8Array
  readonly type: string
}

const unit: Unit<BlobExports & Record<string, unknown>> = ({ host, use }) => {
  /** What the constructor makes the next blob of, instead of its arguments. */
  let ready: Content | undefined
  let bytesOfBlob!: BlobExports['bytesOfBlob']
  let typeOfBlob!: BlobExports['typeOfBlob']
  let fileParts!: (value: object) => { name: string; lastModified: number } | undefined

  class Blob {
    readonly #bytes: Uint8Array
    readonly #type: string

    constructor(parts: unknown = undefined, options: unknown = undefined) {
      const { bytes, type } = ready ?? contentOf(parts, options)
      ready = undefined
      this.#bytes = bytes
      this.#type = type
    }

    get size(): number {
      return this.#bytes.length
    }

    get type(): string {
      return this.#type
    }

    slice(start: unknown = 0, end: unknown = undefined, type: unknown = ''): Blob {
      const { length } = this.#bytes
      const from = position(start, length)
      const to = end === undefined ? length : position(end, length)
      return blobOf(this.#bytes.subarray(from, Math.max(from, to)), mediaType(type)) as Blob
    }

    async text(): Promise<string> {
      return decodeUtf8(host, this.#bytes)
    }

    async arrayBuffer(): Promise<ArrayBufferLike> {
      return this.#bytes.slice().buffer
    }

    async bytes(): Promise<Uint8Array> {
      return this.#bytes.slice()
    }

    stream(): object {
      return (use('body-streams') as unknown as BodyStreamExports).streamOfBytes(this.#bytes)
    }

    static {
      bytesOfBlob = (value) => (#bytes in value ? value.#bytes : undefined)
      typeOfBlob = (blob) => (blob as Blob).#type
    }
  }

  class File extends Blob {
    readonly #name: string
    readonly #lastModified: number

    constructor(parts: unknown, name: unknown, options: unknown = undefined) {
      requireArguments(arguments.length, 2, 'File')
      super(parts ?? null, options)
      this.#name = usvString(name)
      const { lastModified = host.timeOrigin() + host.now() } = dictionary(options, 'File')
      this.#lastModified = Math.trunc(Number(lastModified)) || 0
    }

    get name(): string {
      return this.#name
    }

    get lastModified(): number {
      return this.#lastModified
    }

    static {
      fileParts = (value) =>
        #name in value ? { name: value.#name, lastModified: value.#lastModified } : undefined
    }
  }

  function blobOf(bytes: Uint8Array, type: string): object {
    ready = { bytes, type }
    return new Blob()
  }

  function fileOf(bytes: Uint8Array, type: string, name: string, options?: object): object {
    ready = { bytes, type }
    return new File([], name, options)
  }

  function asFile(blob: object, name: string | undefined): object {
    const parts = fileParts(blob)
    if (parts !== undefined && (name === undefined || name === parts.name)) return blob
    const options = parts && { lastModified: parts.lastModified }
    return fileOf(bytesOfBlob(blob) as Uint8Array, typeOfBlob(blob), name ?? 'blob', options)
  }

  /** @throws TypeError for what is no sequence, or for options that are none */
  function contentOf(parts: unknown, options: unknown): Content {
    const list = parts === undefined ? [] : sequence(parts)
    const { endings = 'transparent', type = '' } = dictionary(options, 'Blob')
    const ending = `${endings as string}`
    if (ending !== 'transparent' && ending !== 'native') {
      throw new TypeError('The endings of a Blob are "transparent" or "native".')
    }
    return {
      type: mediaType(type),
      bytes: joined(list.map((part) => bytesOfPart(part, ending === 'native'))),
    }
  }

  function bytesOfPart(part: unknown, native: boolean): Uint8Array {
    if (typeof part === 'object' && part !== null) {
      const bytes = bytesOfBlob(part)
      if (bytes !== undefined) return bytes
      if (part instanceof ArrayBuffer || ArrayBuffer.isView(part)) return bytesOf(part, 'Blob')
    }
    const text = usvString(part)
    return host.encodeText(native ? text.replace(/\r\n?/g, '\n') : text)
  }

  const nameOfFile = (file: object): string => fileParts(file)?.name ?? 'blob'
  return { Blob, File, bytesOfBlob, typeOfBlob, blobOf, fileOf, asFile, nameOfFile }
}
export default unit

function sequence(value: unknown): readonly unknown[] {
  const isObject = (typeof value === 'object' && value !== null) || typeof value === 'function'
  if (isObject && typeof (value as Iterable<unknown>)[Symbol.iterator] === 'function') {
    return [...(value as Iterable<unknown>)]
  }
  throw new TypeError('It takes a sequence of parts.')
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}

/** A media type is lower case of printable ASCII, or nothing. */
function mediaType(given: unknown): string {
  const type = `${given as string}`
  return /[^ -~]/.test(type) ? '' : type.toLowerCase()
}

/** A `[Clamp] long long` as a place in so many bytes: from the end where it is negative. */
function position(given: unknown, length: number): number {
  const number = Number(given) || 0
  const below = Math.floor(number)
  const isUp = number - below > 0.5 || (number - below === 0.5 && below % 2 !== 0)
  const whole = isUp ? below + 1 : below
  return whole < 0 ? Math.max(length + whole, 0) : Math.min(whole, length)
}
