/**
 * `wasi:http/types` of requests that go out. The body is collected and sent as a whole, when it is finished. What fields
 * may say is decided where the request is sent, by the fetch capability.
 */
import { concatBytes } from '../../../src/base/bytes.ts'
import type { WasiHttpRequest } from '../../../src/ports/wasi-host.ts'
import { InterfaceError } from './component-error.ts'
import { Fields, HttpResource, latin1, NAME, type Tagged } from './http-fields.ts'
import type { Preview2Context } from './pollable.ts'
import { OutputStream } from './streams.ts'

export class RequestOptions extends HttpResource {
  #connect: bigint | undefined
  #firstByte: bigint | undefined
  #betweenBytes: bigint | undefined

  connectTimeout(): bigint | undefined {
    return this.#connect
  }

  setConnectTimeout(ns: bigint | undefined): void {
    this.#connect = ns
  }

  firstByteTimeout(): bigint | undefined {
    return this.#firstByte
  }

  setFirstByteTimeout(ns: bigint | undefined): void {
    this.#firstByte = ns
  }

  betweenBytesTimeout(): bigint | undefined {
    return this.#betweenBytes
  }

  setBetweenBytesTimeout(ns: bigint | undefined): void {
    this.#betweenBytes = ns
  }
}

const NOTHING: Uint8Array = new Uint8Array(0)

export class OutgoingBody extends HttpResource {
  readonly #context: Preview2Context
  #parts: Uint8Array[] = []
  #bytes = 0
  #isTaken = false
  /** Called with the whole body when it is finished; undefined when the guest gave it up. */
  whenFinished: ((body: Uint8Array | undefined) => void) | undefined
  finished: Uint8Array | undefined

  constructor(context: Preview2Context) {
    super(context.resources)
    this.#context = context
  }

  write(): OutputStream {
    if (this.#isTaken) throw new InterfaceError(undefined)
    this.#isTaken = true
    return new OutputStream(this.#context, {
      write: (bytes) => {
        const { world, unsent } = this.#context
        const isOver = this.finished !== undefined || !this.isLive
        if (isOver || unsent.bytes + bytes.length > world.limits.requestBytes)
          throw new InterfaceError({ tag: 'closed' })
        unsent.bytes += bytes.length
        this.#bytes += bytes.length
        this.#parts.push(new Uint8Array(bytes))
      },
      state: () => ({ of: 'http' }),
    })
  }

  static finish(body: OutgoingBody, trailers: Fields | undefined): void {
    if (trailers !== undefined) {
      trailers.drop()
      body.drop()
      throw new InterfaceError({ tag: 'internal-error', val: 'Trailers are not sent.' })
    }
    const whole = concatBytes(body.#parts, body.#bytes)
    body.#parts = []
    body.finished = whole
    body.whenFinished?.(whole)
    body.drop()
  }

  /** It was sent, or nobody will. */
  letGo(): void {
    this.#context.unsent.bytes -= this.#bytes
    this.#bytes = 0
    this.#parts = []
    this.finished &&= NOTHING
  }

  protected override release(): void {
    if (this.finished !== undefined) return
    this.letGo()
    this.whenFinished?.(undefined)
  }
}

export class OutgoingRequest extends HttpResource {
  readonly #context: Preview2Context
  readonly #headers: Fields
  #method: Tagged = { tag: 'get' }
  #scheme: Tagged | undefined
  #authority: string | undefined
  #path: string | undefined
  #body: OutgoingBody | undefined

  constructor(context: Preview2Context, headers: Fields) {
    super(context.resources)
    this.#context = context
    // They were handed over: nobody has a handle to them any more.
    this.#headers = headers.freeze()
    headers.drop()
  }

  body(): OutgoingBody {
    if (this.#body !== undefined) throw new InterfaceError(undefined)
    this.#body = new OutgoingBody(this.#context)
    return this.#body
  }

  method(): Tagged {
    return this.#method
  }

  setMethod(method: Tagged): void {
    if (method.tag === 'other' && !NAME.test(String(method.val))) throw new InterfaceError(undefined)
    this.#method = method
  }

  pathWithQuery(): string | undefined {
    return this.#path
  }

  setPathWithQuery(path: string | undefined): void {
    if (path !== undefined && !/^[/?]\S*$/.test(path)) throw new InterfaceError(undefined)
    this.#path = path
  }

  scheme(): Tagged | undefined {
    return this.#scheme
  }

  setScheme(scheme: Tagged | undefined): void {
    this.#scheme = scheme
  }

  authority(): string | undefined {
    return this.#authority
  }

  setAuthority(authority: string | undefined): void {
    // Host and port, nothing that a parser of URLs could take for something else.
    if (authority !== undefined && !/^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:\d{1,5})?$/i.test(authority)) {
      throw new InterfaceError(undefined)
    }
    this.#authority = authority
  }

  headers(): Fields {
    return Fields.of(this.#context, this.#headers.entries(), true)
  }

  protected override release(): void {
    if (this.#body?.finished !== undefined) this.#body.letGo()
  }

  /** The body that the guest has taken, if it has. */
  get taken(): OutgoingBody | undefined {
    return this.#body
  }

  /** @throws InterfaceError where it could not be sent to anybody */
  toRequest(body: Uint8Array): WasiHttpRequest {
    const scheme = this.#scheme?.tag.toLowerCase() ?? 'https'
    if (scheme !== 'http' && scheme !== 'https') throw new InterfaceError({ tag: 'HTTP-request-denied' })
    if (this.#authority === undefined) throw new InterfaceError({ tag: 'HTTP-request-URI-invalid' })
    const method = this.#method.tag === 'other' ? String(this.#method.val) : this.#method.tag
    return {
      method: method.toUpperCase(),
      url: `${scheme}://${this.#authority}${this.#path ?? '/'}`,
      headers: this.#headers.entries().map(([name, value]) => [name, latin1(value)] as const),
      body,
    }
  }
}
