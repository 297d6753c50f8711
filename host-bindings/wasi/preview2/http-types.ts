/**
 * `wasi:http/types` for requests that go out: fields, a request with its body, and the answer.
 *
 * The body of a request is collected and sent as a whole, when it is finished; the body of an answer is there as a
 * whole when the answer is. What the fields may say is decided where the request is sent, by the fetch capability.
 */
import type { WasiHttpAnswer, WasiHttpRequest, WasiResourceState } from '../../../src/ports/wasi-host.ts'
import { InterfaceError } from './component-error.ts'
import { AnsweredResource, Pollable, type Preview2Context } from './pollable.ts'
import { Resource } from './resource.ts'
import { InputStream, OutputStream } from './streams.ts'

/** Names and values of one message's fields, and their bytes, that are kept. */
const MAX_FIELDS = 256
const MAX_FIELD_BYTES = 65_536
const NAME = /^[!#$%&'*+.^_`|~0-9a-z-]+$/i
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

type Tagged = { readonly tag: string; readonly val?: unknown }
type Entry = readonly [name: string, value: Uint8Array]

/** Their checkpoints are refused by this name. */
abstract class HttpResource extends Resource {
  override state(): Omit<WasiResourceState, 'id'> {
    return { kind: `http ${this.constructor.name}`, data: null }
  }
}

export class Fields extends HttpResource {
  readonly #context: Preview2Context
  #entries: Entry[] = []
  #isImmutable = false

  constructor(context: Preview2Context) {
    super(context.resources)
    this.#context = context
  }

  static of(context: Preview2Context, entries: readonly Entry[], isImmutable: boolean): Fields {
    const fields = new Fields(context)
    for (const [name, value] of entries) fields.append(name, value)
    fields.#isImmutable = isImmutable
    return fields
  }

  get(name: string): Uint8Array[] {
    return this.#entries.filter(([other]) => isSameName(other, name)).map(([, value]) => value)
  }

  has(name: string): boolean {
    return this.#entries.some(([other]) => isSameName(other, name))
  }

  set(name: string, values: readonly Uint8Array[]): void {
    this.delete(name)
    for (const value of values) this.append(name, value)
  }

  delete(name: string): void {
    this.#requireMutable()
    this.#entries = this.#entries.filter(([other]) => !isSameName(other, name))
  }

  append(name: string, value: Uint8Array): void {
    this.#requireMutable()
    const bytes = this.#entries.reduce((sum, [other, held]) => sum + other.length + held.length, 0)
    const isTooMuch =
      this.#entries.length >= MAX_FIELDS || bytes + name.length + value.length > MAX_FIELD_BYTES
    if (isTooMuch || !NAME.test(name) || !VALUE.test(latin1(value))) {
      throw new InterfaceError({ tag: 'invalid-syntax' })
    }
    this.#entries.push([name, value.slice()])
  }

  entries(): Entry[] {
    return [...this.#entries]
  }

  clone(): Fields {
    return Fields.of(this.#context, this.#entries, false)
  }

  freeze(): this {
    this.#isImmutable = true
    return this
  }

  #requireMutable(): void {
    if (this.#isImmutable) throw new InterfaceError({ tag: 'immutable' })
  }
}

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
    const whole = new Uint8Array(body.#bytes)
    let at = 0
    for (const part of body.#parts) {
      whole.set(part, at)
      at += part.length
    }
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

/** The answer, once it is there. */
export class FutureIncomingResponse extends AnsweredResource {
  readonly #context: Preview2Context
  #request: number | undefined
  #failure: Tagged | undefined
  #isTaken = false

  constructor(context: Preview2Context) {
    super(context.resources)
    this.#context = context
  }

  sent(request: number): void {
    this.#request = request
  }

  subscribe(): Pollable {
    return new Pollable(this.#context, { kind: 'answer', by: this.id })
  }

  get(): Tagged | undefined {
    if (this.#isTaken) return { tag: 'err', val: undefined }
    const answer = this.#answer()
    if (answer === undefined && this.#failure === undefined) return undefined
    this.#isTaken = true
    return { tag: 'ok', val: this.#result(answer) }
  }

  override isAnswered(): boolean {
    return this.#failure !== undefined || this.#answer() !== undefined
  }

  override request(): number | undefined {
    return this.#request
  }

  override giveUp(): void {
    this.#failure ??= { tag: 'internal-error', val: 'No answer can be waited for here.' }
  }

  fail(failure: Tagged): void {
    this.#failure ??= failure
  }

  override state(): Omit<WasiResourceState, 'id'> {
    return { kind: 'http FutureIncomingResponse', data: null }
  }

  protected override release(): void {
    if (this.#request !== undefined) this.#context.world.http?.drop(this.#request)
  }

  #answer(): WasiHttpAnswer | undefined {
    return this.#request === undefined ? undefined : this.#context.world.http?.answer(this.#request)
  }

  #result(answer: WasiHttpAnswer | undefined): Tagged {
    if (answer === undefined) return { tag: 'err', val: this.#failure }
    if (answer.ok) {
      if (!fitsFields(answer)) return { tag: 'err', val: TOO_MANY_FIELDS }
      return { tag: 'ok', val: new IncomingResponse(this.#context, answer) }
    }
    return { tag: 'err', val: FAILURES[answer.reason] }
  }
}

const TOO_MANY_FIELDS: Tagged = { tag: 'HTTP-response-header-section-size', val: undefined }
const FAILURES: Readonly<Record<Extract<WasiHttpAnswer, { ok: false }>['reason'], Tagged>> = {
  denied: { tag: 'HTTP-request-denied' },
  failed: { tag: 'connection-terminated' },
  timeout: { tag: 'HTTP-response-timeout' },
  'too-large': { tag: 'HTTP-response-body-size', val: undefined },
}

export class IncomingResponse extends HttpResource {
  readonly #context: Preview2Context
  readonly #answer: Extract<WasiHttpAnswer, { ok: true }>
  #isTaken = false

  constructor(context: Preview2Context, answer: Extract<WasiHttpAnswer, { ok: true }>) {
    super(context.resources)
    this.#context = context
    this.#answer = answer
  }

  status(): number {
    return this.#answer.status
  }

  headers(): Fields {
    return Fields.of(this.#context, entriesOf(this.#answer), true)
  }

  consume(): IncomingBody {
    if (this.#isTaken) throw new InterfaceError(undefined)
    this.#isTaken = true
    return new IncomingBody(this.#context, this.#answer.body)
  }
}

export class IncomingBody extends HttpResource {
  readonly #context: Preview2Context
  readonly #body: Uint8Array
  #isTaken = false

  constructor(context: Preview2Context, body: Uint8Array) {
    super(context.resources)
    this.#context = context
    this.#body = body
  }

  stream(): InputStream {
    if (this.#isTaken) throw new InterfaceError(undefined)
    this.#isTaken = true
    let at = 0
    return new InputStream(this.#context, {
      read: (length) => {
        const part = this.#body.slice(at, at + length)
        at += part.length
        return part
      },
      state: () => ({ of: 'http' }),
    })
  }

  static finish(body: IncomingBody): FutureTrailers {
    body.drop()
    return new FutureTrailers(body.#context)
  }
}

/** There are none, at once. */
export class FutureTrailers extends HttpResource {
  readonly #context: Preview2Context
  #isTaken = false

  constructor(context: Preview2Context) {
    super(context.resources)
    this.#context = context
  }

  subscribe(): Pollable {
    return new Pollable(this.#context, { kind: 'now' })
  }

  get(): Tagged {
    if (this.#isTaken) return { tag: 'err', val: undefined }
    this.#isTaken = true
    return { tag: 'ok', val: { tag: 'ok', val: undefined } }
  }
}

/** Fields of an answer, without those that are none. */
function entriesOf({ headers }: Extract<WasiHttpAnswer, { ok: true }>): readonly Entry[] {
  return headers.flatMap(([name, value]): readonly Entry[] =>
    NAME.test(name) && VALUE.test(value) ? [[name, fromLatin1(value)]] : [],
  )
}

function fitsFields({ headers }: Extract<WasiHttpAnswer, { ok: true }>): boolean {
  const bytes = headers.reduce((sum, [name, value]) => sum + name.length + value.length, 0)
  return headers.length <= MAX_FIELDS && bytes <= MAX_FIELD_BYTES
}

/** A name that is looked for may have as many characters as the guest's memory. */
function isSameName(left: string, right: string): boolean {
  return left.length === right.length && left.toLowerCase() === right.toLowerCase()
}

function latin1(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => String.fromCharCode(byte)).join('')
}

function fromLatin1(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0))
}
