/** `wasi:http/outgoing-handler` and the classes of `wasi:http/types`, bound to one guest. */
import type { WasiInterface } from '../../../src/ports/wasi-host.ts'
import { InterfaceError } from './component-error.ts'
import { Fields } from './http-fields.ts'
import { FutureIncomingResponse, FutureTrailers, IncomingBody, IncomingResponse } from './http-incoming.ts'
import { OutgoingBody, OutgoingRequest, RequestOptions } from './http-outgoing.ts'
import type { Preview2Context } from './pollable.ts'

/** The milliseconds that a guest may ask for at the most. */
const MAX_TIMEOUT_MS = 600_000n

export function httpInterfaces(context: Preview2Context): Readonly<Record<string, WasiInterface>> {
  const { world, end } = context

  /** The request is handed over, and the options are: nobody has a handle to them afterwards. */
  const handle = (request: OutgoingRequest, options: RequestOptions | undefined): FutureIncomingResponse => {
    const timeoutMs = timeoutOf(options)
    options?.drop()
    try {
      return send(request, timeoutMs)
    } finally {
      request.drop()
    }
  }

  const send = (request: OutgoingRequest, timeoutMs: number | undefined): FutureIncomingResponse => {
    const { http } = world
    if (http === undefined || end.reason !== undefined)
      throw new InterfaceError({ tag: 'HTTP-request-denied' })
    // What is malformed is told here; with an empty body, which is not looked at.
    request.toRequest(new Uint8Array(0))
    const future = new FutureIncomingResponse(context)
    const { taken } = request
    const finish = (body: Uint8Array | undefined): void => {
      if (body === undefined) future.fail({ tag: 'HTTP-request-body-size', val: undefined })
      // Nobody would get the answer of one that was given up before.
      else if (end.reason === undefined && future.isLive) {
        future.sent(
          http.send({ ...request.toRequest(body), ...(timeoutMs === undefined ? {} : { timeoutMs }) }),
        )
      }
      taken?.letGo()
    }
    if (taken === undefined) finish(new Uint8Array(0))
    else if (taken.finished !== undefined) finish(taken.finished)
    else taken.whenFinished = finish
    return future
  }

  /** Glue makes these with `new`, and knows nothing of the guest that they are for. */
  class GuestFields extends Fields {
    constructor() {
      super(context)
    }

    static fromList(entries: readonly (readonly [string, Uint8Array])[]): Fields {
      return Fields.of(context, entries, false)
    }
  }
  class GuestOutgoingRequest extends OutgoingRequest {
    constructor(headers: Fields) {
      super(context, headers)
    }
  }
  class GuestRequestOptions extends RequestOptions {
    constructor() {
      super(context.resources)
    }
  }
  // Fields that come from elsewhere are of the base class: `instanceof` holds for both.
  Object.defineProperty(GuestFields, Symbol.hasInstance, {
    value: (value: unknown) => value instanceof Fields,
  })
  class Unavailable {}

  return {
    'wasi:http/outgoing-handler': { handle },
    'wasi:http/types': {
      Fields: GuestFields,
      OutgoingRequest: GuestOutgoingRequest,
      RequestOptions: GuestRequestOptions,
      OutgoingBody,
      FutureIncomingResponse,
      IncomingResponse,
      IncomingBody,
      FutureTrailers,
      // Of requests that come in; no guest gets any.
      IncomingRequest: Unavailable,
      OutgoingResponse: Unavailable,
      ResponseOutparam: Unavailable,
      httpErrorCode: () => undefined,
    },
  }
}

function timeoutOf(options: RequestOptions | undefined): number | undefined {
  const ns = options?.firstByteTimeout() ?? options?.connectTimeout()
  if (ns === undefined) return undefined
  const ms = ns / 1_000_000n + 1n
  return Number(ms < MAX_TIMEOUT_MS ? ms : MAX_TIMEOUT_MS)
}
