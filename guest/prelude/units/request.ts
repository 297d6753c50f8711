/**
 * `Request` of the Fetch standard. What the capability of the host cannot do (caches, modes, credentials) is not
 * there.
 */

import type { AbortExports } from '../abort-exports.ts'
import { byteString, dictionary, requireArguments, usvString } from '../arguments.ts'
import type { Unit } from '../host.ts'
import type { Body, BodyExports, Message } from './body.ts'
import type { HeadersExports } from './headers.ts'

/** What a request says. */
export interface RequestParts {
  readonly url: string
  readonly method: string
  readonly headers: object
  readonly redirect: string
  readonly body: Body | null
  /** Undefined for a request that nobody can abort. */
  readonly signal: object | undefined
}

/** What `fetch` needs of it. */
export interface RequestExports {
  /** The parts of `new Request(input, init)`. */
  readonly requestParts: (input: unknown, init: unknown) => RequestParts
}

const NORMAL = ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'POST', 'PUT']
const FORBIDDEN = ['CONNECT', 'TRACE', 'TRACK']
const REDIRECTS = ['error', 'follow', 'manual']

const unit: Unit<RequestExports & Record<string, unknown>> = ({ use }) => {
  const { cloneBody, defineBody, extractBody, takeBody } = use('body') as unknown as BodyExports
  const { addMissing, headersFrom, headerValue } = use('headers') as unknown as HeadersExports
  const abort = (): AbortExports & {
    AbortController: new () => { signal: object }
    AbortSignal: { any(signals: object[]): object }
  } => use('abort') as never
  let ready: RequestParts | undefined
  let partsOfRequest!: (value: unknown) => RequestParts | undefined
  let messageOf!: (self: unknown) => Message

  class Request {
    readonly #parts: RequestParts
    #signal: object | undefined

    constructor(input: unknown, init: unknown = undefined) {
      if (ready === undefined) requireArguments(arguments.length, 1, 'Request')
      this.#parts = ready ?? requestParts(input, init)
      ready = undefined
    }

    get method(): string {
      return this.#parts.method
    }

    get url(): string {
      return this.#parts.url
    }

    get headers(): object {
      return this.#parts.headers
    }

    get redirect(): string {
      return this.#parts.redirect
    }

    get signal(): object {
      const { signal } = this.#parts
      this.#signal ??= signal ? abort().AbortSignal.any([signal]) : new (abort().AbortController)().signal
      return this.#signal
    }

    get duplex(): string {
      void this.#parts
      return 'half'
    }

    clone(): Request {
      const parts = this.#parts
      ready = { ...parts, headers: headersFrom(parts.headers), body: parts.body && cloneBody(parts.body) }
      return new Request('')
    }

    static {
      partsOfRequest = (value) =>
        typeof value === 'object' && value && #parts in value ? value.#parts : undefined
      messageOf = (self) => {
        const { body, headers } = (self as Request).#parts
        return { body, type: () => headerValue(headers, 'content-type') }
      }
    }
  }
  defineBody(Request.prototype, (self) => messageOf(self))

  /** @throws TypeError */
  function requestParts(input: unknown, init: unknown): RequestParts {
    const from = partsOfRequest(input)
    const url = from?.url ?? requestUrl(input)
    const { body: given = null, duplex, headers, method, redirect, signal } = dictionary(init, 'Request')
    if (duplex !== undefined && `${duplex as string}` !== 'half') {
      throw new TypeError('The duplex of a Request is half: it is sent before its answer is read.')
    }
    const verb = method === undefined ? (from?.method ?? 'GET') : requestMethod(method)
    const mode = redirect === undefined ? (from?.redirect ?? 'follow') : `${redirect as string}`
    if (!REDIRECTS.includes(mode))
      throw new TypeError('The redirect of a Request is follow, error or manual.')
    if (signal !== undefined && signal !== null) abort().isAborted(signal)
    const own = headersFrom(headers ?? from?.headers)
    const inherited = given === null ? (from?.body ?? null) : null
    if ((given !== null || inherited !== null) && (verb === 'GET' || verb === 'HEAD')) {
      throw new TypeError(`A ${verb} request has no body.`)
    }
    let body: Body | null = null
    if (given !== null) {
      const extracted = extractBody(given)
      if (extracted.body.stream !== undefined && duplex === undefined) {
        throw new TypeError("A Request with a stream as its body takes duplex: 'half'.")
      }
      if (extracted.type !== undefined) addMissing(own, 'content-type', extracted.type)
      body = extracted.body
    } else if (inherited !== null) {
      body = takeBody(inherited)
    }
    return {
      ...{ url, method: verb, headers: own, redirect: mode, body },
      signal: signal === undefined ? from?.signal : ((signal as object | null) ?? undefined),
    }
  }

  /** @throws TypeError unless it is absolute and without credentials */
  function requestUrl(input: unknown): string {
    const { URL } = use('url') as unknown as {
      URL: new (url: string) => { href: string; username: string; password: string }
    }
    const { href, username, password } = new URL(usvString(input))
    if (username === '' && password === '') return href
    throw new TypeError('The URL of a Request has no name and password in it: send a header.')
  }

  return { Request, requestParts }
}
export default unit

/** @throws TypeError */
function requestMethod(given: unknown): string {
  const method = byteString(given, 'A method')
  const upper = method.toUpperCase()
  if (!/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(method) || FORBIDDEN.includes(upper)) {
    throw new TypeError(`"${method.slice(0, 100)}" is no method of a Request.`)
  }
  return NORMAL.includes(upper) ? upper : method
}
