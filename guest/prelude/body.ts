/**
 * Bodies of requests and responses: what they are made of, and how they are read. Their bytes are there from the
 * beginning, in the memory of the guest.
 */
import { bytesOf, usvString } from './arguments.ts'
import type { Internals } from './host.ts'
import { mediaTypeText, parseMediaType } from './media-type.ts'
import type { BlobExports } from './units/blob.ts'
import type { FormDataExports, FormEntry } from './units/form-data.ts'
import type { MultipartExports } from './units/multipart.ts'
import type { SearchParamsExports } from './units/url-search-params.ts'
import { decodeUtf8 } from './utf8.ts'

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

/** A body of what a guest gives as one: bytes are copied. */
export function extractBody(internals: Internals, given: unknown): Extracted {
  const { host, loaded } = internals
  const extracted = (bytes: Uint8Array, type?: string): Extracted => ({ body: { bytes, used: false }, type })
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
      const written = (internals.use('multipart') as unknown as MultipartExports).writeMultipart(entries)
      return extracted(written.bytes, written.type)
    }
    const params = (loaded('url-search-params') as unknown as SearchParamsExports | undefined)?.textOfParams(
      given,
    )
    if (params !== undefined) {
      return extracted(host.encodeText(params), 'application/x-www-form-urlencoded;charset=UTF-8')
    }
  }
  return extracted(host.encodeText(usvString(given)), 'text/plain;charset=UTF-8')
}

/** What a message shows of itself: its body, if it has one, and its `content-type`. */
export interface Message {
  readonly body: Body | null
  readonly type: () => string | null
}

/**
 * Puts what reads bodies on the prototype of a class.
 * @param messageOf throws a TypeError for what is no object of the class
 */
export function defineBody(
  prototype: object,
  messageOf: (self: unknown) => Message,
  internals: Internals,
): void {
  const { host, use } = internals
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
      const parsed = parseMediaType(type)
      return (use('blob') as unknown as BlobExports).blobOf(bytes, parsed ? mediaTypeText(parsed) : '')
    },
    async bytes(): Promise<Uint8Array> {
      return consume(this).bytes.slice()
    },
    async formData(): Promise<object> {
      const { bytes, type } = consume(this)
      return (use('form-data') as unknown as FormDataExports).formOf(formEntries(internals, bytes, type))
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

/** @throws TypeError for a body that is no form */
function formEntries({ host, use }: Internals, bytes: Uint8Array, type: string): readonly FormEntry[] {
  const { essence, parameters } = parseMediaType(type) ?? { essence: '', parameters: [] }
  if (essence === 'application/x-www-form-urlencoded') {
    const { paramsOf } = use('url-search-params') as unknown as SearchParamsExports
    return [...(paramsOf(decodeUtf8(host, bytes), () => {}) as Iterable<FormEntry>)]
  }
  const boundary = parameters.find(([name]) => name === 'boundary')?.[1]
  if (essence !== 'multipart/form-data' || boundary === undefined) {
    throw new TypeError(
      'The body is no form: its content-type is neither urlencoded nor multipart/form-data.',
    )
  }
  const entries = (use('multipart') as unknown as MultipartExports).readMultipart(bytes, boundary)
  if (entries === undefined) throw new TypeError('The body is no multipart/form-data.')
  return entries
}
