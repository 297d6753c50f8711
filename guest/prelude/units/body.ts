/**
 * Bodies of requests and responses: what they are made of, and how they are read. Most are bytes that are there from
 * the beginning, in the memory of the guest, or that the host has; a stream is made of them when a guest wants one.
 */
import { bytesOf, usvString } from '../arguments.ts'
import type { Unit } from '../host.ts'
import type { StreamBodies, StreamExports } from '../stream-exports.ts'
import { decodeUtf8 } from '../utf8.ts'
import type { BlobExports } from './blob.ts'
import type { BodyStreamExports, PiecewiseBody } from './body-streams.ts'
import type { FormDataExports } from './form-data.ts'
import type { MultipartExports } from './multipart.ts'
import type { SearchParamsExports } from './url-search-params.ts'

/** The body of one message. */
export interface Body {
  /** Bytes that never change, or where to get them; not looked at where there is a stream. */
  readonly source: Uint8Array | PiecewiseBody
  /** Made when it is asked for, or what the guest gave. */
  stream: object | undefined
  /** Whether it was read without a stream, or given to another message. */
  used: boolean
}

/** What a message is made with: its body, and the type that it has if no header says one. */
export interface Extracted {
  readonly body: Body
  readonly type: string | undefined
}

/** What a message shows of itself: its body, if it has one, and its `content-type`. */
export interface Message {
  readonly body: Body | null
  readonly type: () => string | null
}

/** What `Request` and `Response` need of it. */
export interface BodyExports {
  /** A body of bytes that nobody changes, or of what the host has. */
  readonly newBody: (source: Body['source']) => Body
  /** A body of what a guest gives as one: bytes are copied. @throws TypeError for a stream that was begun */
  readonly extractBody: (given: unknown) => Extracted
  /** Two messages have the same body from here on. @throws TypeError where it is read already */
  readonly cloneBody: (body: Body) => Body
  /** The body of another message, which has none to read any more. @throws TypeError where it is read already */
  readonly takeBody: (body: Body) => Body
  /**
   * Reads a body whole, and gives what `work` makes of it: at once where it is bytes.
   * @param work is told whether nobody else has the buffer of the bytes
   * @throws TypeError where it is read already
   */
  readonly readBodyOf: <T>(body: Body, work: (bytes: Uint8Array, isOwn: boolean) => T) => T | Promise<T>
  /**
   * Puts what reads bodies on the prototype of a class.
   * @param messageOf throws a TypeError for what is no object of the class
   */
  readonly defineBody: (prototype: object, messageOf: (self: unknown) => Message) => void
}

const NOTHING = new Uint8Array()

const unit: Unit<BodyExports & Record<string, unknown>> = ({ host, loaded, primordials, use }) => {
  const formBodies = (): MultipartExports => use('multipart') as unknown as MultipartExports
  const streams = (): StreamExports => use('streams') as unknown as StreamExports
  const streamBodies = (): StreamBodies => use('stream-bodies') as unknown as StreamBodies
  const bodyStreams = (): BodyStreamExports => use('body-streams') as unknown as BodyStreamExports

  const newBody = (source: Body['source'], stream?: object): Body => ({ source, stream, used: false })

  function extractBody(given: unknown): Extracted {
    const extracted = (bytes: Uint8Array, type?: string): Extracted => ({ body: newBody(bytes), type })
    if (typeof given === 'object' && given !== null) {
      const blobs = loaded('blob') as unknown as BlobExports | undefined
      const bytes = blobs?.bytesOfBlob(given)
      if (blobs !== undefined && bytes !== undefined)
        return extracted(bytes, blobs.typeOfBlob(given) || undefined)
      if (given instanceof ArrayBuffer || ArrayBuffer.isView(given))
        return extracted(bytesOf(given, 'A body').slice())
      const forms = loaded('form-data') as unknown as FormDataExports | undefined
      const entries = forms?.entriesOfForm(given)
      if (entries !== undefined) {
        const written = formBodies().writeMultipart(entries)
        return extracted(written.bytes, written.type)
      }
      const params = (
        loaded('url-search-params') as unknown as SearchParamsExports | undefined
      )?.textOfParams(given)
      if (params !== undefined) {
        return extracted(host.encodeText(params), 'application/x-www-form-urlencoded;charset=UTF-8')
      }
      const known = loaded('streams') as unknown as StreamExports | undefined
      if (known?.isStream(given)) {
        if (known.isDisturbed(given) || known.isLocked(given)) {
          throw new TypeError('A body is a stream that nobody has read from, and that nobody reads.')
        }
        return { body: newBody(NOTHING, given), type: undefined }
      }
    }
    return extracted(host.encodeText(usvString(given)), 'text/plain;charset=UTF-8')
  }

  const isUsed = ({ used, stream }: Body): boolean =>
    used || (stream !== undefined && streams().isDisturbed(stream))

  function requireUnused(body: Body): void {
    if (isUsed(body)) {
      throw new TypeError('The body was read already. Read a clone() of it, or keep what was read.')
    }
    if (body.stream !== undefined && streams().isLocked(body.stream)) {
      throw new TypeError('The body has a reader already: read with that one, or release it.')
    }
  }

  function streamOfBody(body: Body): object {
    const { source, used } = body
    body.stream ??= used
      ? bodyStreams().spentStream()
      : source instanceof Uint8Array
        ? bodyStreams().streamOfBytes(source)
        : bodyStreams().streamOfPieces(source)
    return body.stream
  }

  function cloneBody(body: Body): Body {
    requireUnused(body)
    if (body.stream === undefined && body.source instanceof Uint8Array) return newBody(body.source)
    const [kept, given] = streamBodies().tee(streamOfBody(body))
    body.stream = kept
    return newBody(NOTHING, given)
  }

  function takeBody(body: Body): Body {
    requireUnused(body)
    const { source, stream } = body
    body.used = true
    return stream === undefined ? newBody(source) : newBody(NOTHING, bodyStreams().streamThrough(stream))
  }

  function readBodyOf<T>(body: Body, work: (bytes: Uint8Array, isOwn: boolean) => T): T | Promise<T> {
    requireUnused(body)
    const { source, stream } = body
    if (stream !== undefined) {
      const { promise, resolve, reject } = primordials.withResolvers()
      streamBodies().readAll(stream, (bytes) => resolve(work(bytes, true)), reject)
      return promise as Promise<T>
    }
    body.used = true
    return source instanceof Uint8Array
      ? work(source, false)
      : late(source.rest(), (bytes) => work(bytes, true))
  }

  function defineBody(prototype: object, messageOf: (self: unknown) => Message): void {
    /**
     * What `work` makes of the bytes.
     * @param isOwn whether nobody else has their buffer
     * @throws TypeError for what is no such message, or was read
     */
    function read<T>(
      self: unknown,
      work: (bytes: Uint8Array, type: string, isOwn: boolean) => T,
    ): T | Promise<T> {
      const { body, type } = messageOf(self)
      if (body === null) return work(NOTHING, type() ?? '', false)
      return readBodyOf(body, (bytes, isOwn) => work(bytes, type() ?? '', isOwn))
    }
    const ownBytes = (bytes: Uint8Array, _type: string, isOwn: boolean): Uint8Array =>
      isOwn ? bytes : bytes.slice()

    const methods = {
      get body(): object | null {
        const { body } = messageOf(this)
        return body && streamOfBody(body)
      },
      get bodyUsed(): boolean {
        const { body } = messageOf(this)
        return body !== null && isUsed(body)
      },
      async arrayBuffer(): Promise<ArrayBufferLike> {
        return read(this, (bytes, type, isOwn) => ownBytes(bytes, type, isOwn).buffer)
      },
      async blob(): Promise<object> {
        const { blobOf } = use('blob') as unknown as BlobExports
        return read(this, (bytes, type) => blobOf(bytes, formBodies().normalType(type)))
      },
      async bytes(): Promise<Uint8Array> {
        return read(this, ownBytes)
      },
      async formData(): Promise<object> {
        const { formOf } = use('form-data') as unknown as FormDataExports
        return read(this, (bytes, type) => formOf(formBodies().readForm(bytes, type)))
      },
      async json(): Promise<unknown> {
        return read(this, (bytes) => JSON.parse(decodeUtf8(host, bytes)))
      },
      async text(): Promise<string> {
        return read(this, (bytes) => decodeUtf8(host, bytes))
      },
    }
    const descriptors = Object.getOwnPropertyDescriptors(methods)
    for (const descriptor of Object.values(descriptors)) descriptor.enumerable = false
    Object.defineProperties(prototype, descriptors)
  }

  return { newBody, extractBody, cloneBody, takeBody, readBodyOf, defineBody }
}
export default unit

async function late<T>(bytes: Promise<Uint8Array>, work: (bytes: Uint8Array) => T): Promise<T> {
  return work(await bytes)
}
