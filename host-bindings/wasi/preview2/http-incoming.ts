/** `wasi:http/types` of answers, whose bodies are there as a whole when they are. */
import type { WasiHttpAnswer, WasiResourceState } from '../../../src/ports/wasi-host.ts'
import { InterfaceError } from './component-error.ts'
import { entriesOf, Fields, fitsFields, HttpResource, type Tagged } from './http-fields.ts'
import { AnsweredResource, Pollable, type Preview2Context } from './pollable.ts'
import { InputStream } from './streams.ts'

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
