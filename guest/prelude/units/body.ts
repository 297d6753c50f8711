/**
 * Bodies of requests and responses: what they are made of, and how they are read. Their bytes are there from the
 * beginning, in the memory of the guest.
 */
import { bytesOf, usvString } from '../arguments.ts'
import type { Unit } from '../host.ts'
import { decodeUtf8 } from '../utf8.ts'
import type { BlobExports } from './blob.ts'
import type { FormDataExports } from './form-data.ts'
import type { MultipartExports } from './multipart.ts'
import type { SearchParamsExports } from './url-search-params.ts'

/** The bytes of a message, which never change. */
export interface Body {
  readonly bytes: Uint8Array
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
  /** A body of what a guest gives as one: bytes are copied. */
  readonly extractBody: (given: unknown) => Extracted
  /**
   * Puts what reads bodies on the prototype of a class.
   * @param messageOf throws a TypeError for what is no object of the class
   */
  readonly defineBody: (prototype: object, messageOf: (self: unknown) => Message) => void
}

const unit: Unit<BodyExports & Record<string, unknown>> = ({ host, loaded, use }) => {
  const formBodies = (): MultipartExports => use('multipart') as unknown as MultipartExports

  function extractBody(given: unknown): Extracted {
    const extracted = (bytes: Uint8Array, type?: string): Extracted => ({
      body: { bytes, used: false },
      type,
    })
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
    }
    return extracted(host.encodeText(usvString(given)), 'text/plain;charset=UTF-8')
  }

  function defineBody(prototype: object, messageOf: (self: unknown) => Message): void {
    const consume = (self: unknown): { bytes: Uint8Array; type: string } => {
      const { body, type } = messageOf(self)
      if (body?.used)
        throw new TypeError('The body was read already. Read a clone() of it, or keep what was read.')
      if (body) body.used = true
      return { bytes: body?.bytes ?? new Uint8Array(), type: type() ?? '' }
    }
    const methods = {
      get bodyUsed(): boolean {
        return messageOf(this).body?.used ?? false
      },
      async arrayBuffer(): Promise<ArrayBufferLike> {
        return consume(this).bytes.slice().buffer
      },
      async blob(): Promise<object> {
        const { bytes, type } = consume(this)
        return (use('blob') as unknown as BlobExports).blobOf(bytes, formBodies().normalType(type))
      },
      async bytes(): Promise<Uint8Array> {
        return consume(this).bytes.slice()
      },
      async formData(): Promise<object> {
        const { bytes, type } = consume(this)
        return (use('form-data') as unknown as FormDataExports).formOf(formBodies().readForm(bytes, type))
      },
      async json(): Promise<unknown> {
        return JSON.parse(decodeUtf8(host, consume(this).bytes))
      },
      async text(): Promise<string> {
        return decodeUtf8(host, consume(this).bytes)
      },
    }
    const descriptors = Object.getOwnPropertyDescriptors(methods)
    for (const descriptor of Object.values(descriptors)) descriptor.enumerable = false
    Object.defineProperties(prototype, descriptors)
  }

  return { extractBody, defineBody }
}
export default unit
