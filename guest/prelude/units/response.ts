/** `Response` of the Fetch standard. */
import { byteString, dictionary, requireArguments, usvString } from '../arguments.ts'
import type { Unit } from '../host.ts'
import type { Body, BodyExports, Message } from './body.ts'
import type { PiecewiseBody } from './body-streams.ts'
import type { HeadersExports } from './headers.ts'

/** How the host answered. */
export interface Answer {
  readonly url: string
  readonly status: number
  readonly statusText: string
  readonly redirected: boolean
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array | string
  /** By which the host's `net.readBody` gives the body. */
  readonly stream?: string
}

/** What `fetch` needs of it. */
export interface ResponseExports {
  /** @param body what the host has of its body, where that is not in the answer */
  readonly responseOf: (answer: Answer, body?: PiecewiseBody) => object
}

/** What the constructor takes of the next response, instead of making it up. */
interface Parts {
  readonly type: string
  readonly url: string
  readonly redirected: boolean
  readonly status: number
  readonly statusText: string
  readonly headers: object
  readonly body: Body | null
}

const BODILESS = [101, 103, 204, 205, 304]
const REDIRECTS = [301, 302, 303, 307, 308]

const unit: Unit<ResponseExports & Record<string, unknown>> = ({ host, use }) => {
  const { cloneBody, defineBody, extractBody, newBody } = use('body') as unknown as BodyExports
  const { addMissing, freezeHeaders, headersFrom, headerValue } = use('headers') as unknown as HeadersExports
  let ready: Parts | undefined
  let messageOf!: (self: unknown) => Message

  class Response {
    readonly #parts: Parts

    constructor(body: unknown = null, init: unknown = undefined) {
      this.#parts = ready ?? partsOf(body, init)
      ready = undefined
    }

    static error(): Response {
      return respond({ ...PLAIN, type: 'error', status: 0, headers: freezeHeaders(headersFrom(undefined)) })
    }

    static redirect(url: unknown, status: unknown = 302): Response {
      requireArguments(arguments.length, 1, 'Response.redirect')
      const { URL } = use('url') as unknown as { URL: new (url: string) => { href: string } }
      const { href } = new URL(usvString(url))
      const code = unsignedShort(status)
      if (!REDIRECTS.includes(code)) throw new RangeError(`${code} is no status of a redirect.`)
      return respond({ ...PLAIN, status: code, headers: freezeHeaders(headersFrom({ location: href })) })
    }

    static json(data: unknown, init: unknown = undefined): Response {
      requireArguments(arguments.length, 1, 'Response.json')
      const text = JSON.stringify(data)
      if (text === undefined) throw new TypeError('Response.json takes what JSON can say.')
      return respond(partsOf(text, init, 'application/json'))
    }

    get type(): string {
      return this.#parts.type
    }

    get url(): string {
      return this.#parts.url
    }

    get redirected(): boolean {
      return this.#parts.redirected
    }

    get status(): number {
      return this.#parts.status
    }

    get ok(): boolean {
      return this.#parts.status >= 200 && this.#parts.status <= 299
    }

    get statusText(): string {
      return this.#parts.statusText
    }

    get headers(): object {
      return this.#parts.headers
    }

    clone(): Response {
      const parts = this.#parts
      const body = parts.body && cloneBody(parts.body)
      const headers = headersFrom(parts.headers)
      if (parts.type !== 'default') freezeHeaders(headers)
      return respond({ ...parts, headers, body })
    }

    static {
      messageOf = (self) => {
        const { body, headers } = (self as Response).#parts
        return { body, type: () => headerValue(headers, 'content-type') }
      }
    }
  }
  defineBody(Response.prototype, (self) => messageOf(self))

  function respond(parts: Parts): Response {
    ready = parts
    return new Response()
  }

  /** @throws RangeError for a status that is none, TypeError for the rest */
  function partsOf(given: unknown, init: unknown, mediaType?: string): Parts {
    const extracted = given === null ? undefined : extractBody(given)
    const { headers: own, status: code = 200, statusText: reason = '' } = dictionary(init, 'Response')
    const headers = headersFrom(own)
    const status = unsignedShort(code)
    const statusText = byteString(reason, 'The text of a status')
    if (status < 200 || status > 599)
      throw new RangeError(`The status of a Response is 200 to 599, not ${status}.`)
    if (/[^\t\x20-\x7e\x80-\xff]/.test(statusText)) throw new TypeError('The text of a status is one line.')
    if (extracted !== undefined) {
      if (BODILESS.includes(status)) throw new TypeError(`A Response with status ${status} has no body.`)
      const type = mediaType ?? extracted.type
      if (type !== undefined) addMissing(headers, 'content-type', type)
    }
    return { ...PLAIN, status, statusText, headers, body: extracted?.body ?? null }
  }

  function responseOf(
    { url, status, statusText, redirected, headers, body }: Answer,
    hostBody?: PiecewiseBody,
  ): object {
    const own = freezeHeaders(headersFrom(headers))
    const hasBody = !BODILESS.includes(status)
    return respond({
      ...{ type: 'basic', url: url.replace(/#.*$/, ''), redirected, status, statusText, headers: own },
      body: hasBody ? newBody(hostBody ?? (typeof body === 'string' ? host.encodeText(body) : body)) : null,
    })
  }

  return { Response, responseOf }
}
export default unit

const PLAIN = { type: 'default', url: '', redirected: false, statusText: '', body: null }

function unsignedShort(value: unknown): number {
  return (Number(value) >>> 0) & 0xffff
}
