/**
 * HTTP of WASI for a component: its requests are calls of the capability `net.fetch`, with the gate, the allow-list and the
 * budgets that every guest has.
 *
 * Invariants
 * 1. Nothing goes out but through the capability. Where it is not granted there is no HTTP.
 * 2. What a redirect says is the guest's to follow: each hop is a call of its own.
 * 3. A refusal is `HTTP-request-denied`, whoever refused and why: what it was is in the host's record.
 * 4. What an answer says is looked at once, however often the guest asks for it.
 */
import { CaissonError } from '../base/errors.ts'
import type { Answer } from '../capability/call.ts'
import type { WasiHttp, WasiHttpAnswer, WasiHttpRequest } from '../ports/wasi-host.ts'
import type { CapabilityCalls } from './capability-calls.ts'
import type { ImportedFunction } from './component-shape.ts'
import type { CoreImport, SuspendingImport } from './core/core-manifest.ts'

/** The capability behind it. */
export const FETCH = 'net.fetch'

type Place = Pick<ImportedFunction, 'interface' | 'name'>

/** Whether it is how requests are sent. */
export function sendsHttp({ interface: from, name }: Place): boolean {
  return /^wasi:http\/outgoing-handler(@|$)/.test(from) && name === 'handle'
}

/** Whether guests wait for answers in it. */
export function awaitsHttp({ interface: from, name }: Place): boolean {
  return /^wasi:io\/poll(@|$)/.test(from) && (name === 'poll' || name === '[method]pollable.block')
}

/** What is said of a component that sends requests and cannot wait for their answers. */
export function cannotAwaitHttp(): CaissonError {
  return new CaissonError(
    'unsupported',
    `The component cannot wait for answers of HTTP. It takes the package binaryen, or what \`caisson build --suspend ${FETCH}\` wrote, and one core module that sends requests and waits for them. Without the grant of ${FETCH} it is opened, and its requests are denied.`,
    { details: { imports: ['wasi:http/outgoing-handler#handle'] } },
  )
}

/** Where a core module waits for answers: in the imports of those that send requests themselves. */
export function waitsForHttp(
  imports: readonly Pick<CoreImport, 'module' | 'name'>[],
  at: SuspendingImport,
): boolean {
  const isOf = ({ module, name }: SuspendingImport): Place => ({ interface: module, name })
  return !awaitsHttp(isOf(at)) || imports.some((one) => sendsHttp(isOf(one)))
}

export class HttpCalls implements WasiHttp {
  readonly #calls: CapabilityCalls
  readonly #answers = new Map<number, WasiHttpAnswer>()

  constructor(calls: CapabilityCalls) {
    this.#calls = calls
  }

  send({ method, url, headers, body }: WasiHttpRequest): number {
    const joined = new Map<string, string>()
    for (const [given, value] of headers) {
      const name = given.toLowerCase()
      const before = joined.get(name)
      joined.set(name, before === undefined ? value : `${before}, ${value}`)
    }
    return this.#calls.request(FETCH, {
      url,
      method,
      ...(joined.size > 0 && { headers: Object.fromEntries(joined) }),
      ...(body.length > 0 && { body }),
      as: 'bytes',
      redirect: 'manual',
    })
  }

  answer(request: number): WasiHttpAnswer | undefined {
    const known = this.#answers.get(request)
    if (known !== undefined) return known
    const come = this.#calls.answerTo(request)
    const answer = come && httpAnswer(come)
    if (answer !== undefined) this.#answers.set(request, answer)
    return answer
  }

  drop(request: number): void {
    this.#answers.delete(request)
    this.#calls.forget(request)
  }
}

const REASONS: Readonly<Record<string, Extract<WasiHttpAnswer, { ok: false }>['reason']>> = {
  network_failed: 'failed',
  aborted: 'failed',
  capability_failed: 'failed',
  timeout: 'timeout',
  result_too_large: 'too-large',
}

function httpAnswer(answer: Answer): WasiHttpAnswer {
  if (!answer.ok) {
    const { code } = answer.error
    return { ok: false, reason: Object.hasOwn(REASONS, code) ? (REASONS[code] ?? 'failed') : 'denied' }
  }
  // Of a capability of that name, which anybody may have defined.
  const { status, headers, body } = (answer.value ?? {}) as Readonly<Record<string, unknown>>
  const isAnswer =
    Number.isInteger(status) &&
    (status as number) >= 100 &&
    (status as number) <= 999 &&
    (typeof body === 'string' || body instanceof Uint8Array)
  const fields = Object.entries(headers ?? {})
  if (!isAnswer || !fields.every(isField)) return { ok: false, reason: 'failed' }
  return {
    ok: true,
    status: status as number,
    headers: fields.map(([name, value]) => [name, String(value)]),
    body: typeof body === 'string' ? new TextEncoder().encode(body) : body,
  }
}

/** Any other value could say something else each time, or nothing at all. */
function isField([, value]: readonly [string, unknown]): boolean {
  return typeof value === 'string' || typeof value === 'number'
}
