/**
 * `AbortController` and `AbortSignal` of the DOM standard. Timeouts are logical timers of the prelude's own, whatever
 * became of the guest's `setTimeout`.
 */

import type { AbortExports } from '../abort-exports.ts'
import type { Unit } from '../host.ts'
import type { DOMExceptionExports } from './dom-exception.ts'
import type { EventExports } from './events.ts'

/** The longest delay that a timer takes. */
const MOST_MS = 0x7fff_ffff

const unit: Unit<AbortExports & Record<string, unknown>> = ({ timers, use }) => {
  const { EventTarget, fire } = use('events') as unknown as EventExports
  const exception = (message: string, name: string): Error =>
    new (use('dom-exception') as unknown as DOMExceptionExports).DOMException(message, name)
  let isOurs = false
  let create!: () => AbortSignal
  let abort!: (signal: AbortSignal, reason: unknown) => void
  let onAbort!: (signal: AbortSignal, act: () => void) => () => void

  class AbortSignal extends EventTarget {
    #aborted = false
    #reason: unknown = undefined
    #handler: unknown = null
    #listens = false
    readonly #acts = new Set<() => void>()
    /** Signals that abort with this one, and those with which this one does. */
    readonly #dependents = new Set<AbortSignal>()
    readonly #sources = new Set<AbortSignal>()

    constructor() {
      if (!isOurs) throw new TypeError('Illegal constructor')
      super()
    }

    get aborted(): boolean {
      return this.#aborted
    }

    get reason(): unknown {
      return this.#reason
    }

    get onabort(): unknown {
      return this.#handler
    }

    set onabort(handler: unknown) {
      this.#handler =
        typeof handler === 'function' || (typeof handler === 'object' && handler) ? handler : null
      if (this.#listens || this.#handler === null) return
      this.#listens = true
      this.addEventListener('abort', (event: unknown) => {
        const current = this.#handler
        if (typeof current === 'function') current.call(this, event)
      })
    }

    throwIfAborted(): void {
      if (this.#aborted) throw this.#reason
    }

    static abort(reason?: unknown): AbortSignal {
      const signal = create()
      signal.#aborted = true
      signal.#reason = orAbortError(reason)
      return signal
    }

    static timeout(milliseconds: unknown): AbortSignal {
      const ms = Math.trunc(Number(milliseconds))
      if (!(ms >= 0 && ms <= Number.MAX_SAFE_INTEGER)) {
        throw new TypeError('AbortSignal.timeout takes milliseconds from 0.')
      }
      const signal = create()
      timers.set(
        () => abort(signal, exception(`The operation timed out after ${ms} ms.`, 'TimeoutError')),
        Math.min(ms, MOST_MS),
      )
      return signal
    }

    static any(signals: unknown): AbortSignal {
      const list = [...(signals as Iterable<unknown>)]
      for (const one of list) requireSignal(one)
      const sources = list as AbortSignal[]
      const signal = create()
      const aborted = sources.find((one) => one.#aborted)
      if (aborted !== undefined) {
        signal.#aborted = true
        signal.#reason = aborted.#reason
        return signal
      }
      for (const source of sources) {
        for (const origin of source.#sources.size > 0 ? source.#sources : [source]) {
          signal.#sources.add(origin)
          origin.#dependents.add(signal)
        }
      }
      return signal
    }

    static {
      create = () => {
        isOurs = true
        try {
          return new AbortSignal()
        } finally {
          isOurs = false
        }
      }
      abort = (signal, reason) => {
        if (signal.#aborted) return
        signal.#aborted = true
        signal.#reason = orAbortError(reason)
        const told = [signal]
        for (const dependent of signal.#dependents) {
          if (dependent.#aborted) continue
          dependent.#aborted = true
          dependent.#reason = signal.#reason
          told.push(dependent)
        }
        for (const one of told) {
          for (const source of one.#sources) source.#dependents.delete(one)
          one.#sources.clear()
          const acts = [...one.#acts]
          one.#acts.clear()
          for (const act of acts) act()
          fire(one, 'abort')
        }
      }
      onAbort = (signal, act) => {
        signal.#acts.add(act)
        return () => void signal.#acts.delete(act)
      }
    }
  }

  class AbortController {
    readonly #signal = create()

    get signal(): AbortSignal {
      return this.#signal
    }

    abort(reason?: unknown): void {
      abort(this.#signal, reason)
    }
  }

  function orAbortError(reason: unknown): unknown {
    return reason === undefined ? exception('This operation was aborted', 'AbortError') : reason
  }

  function requireSignal(value: unknown): AbortSignal {
    if (value instanceof AbortSignal) return value
    throw new TypeError('It takes an AbortSignal.')
  }

  return {
    AbortController,
    AbortSignal,
    isAborted: (signal) => requireSignal(signal).aborted,
    reasonOf: (signal) => requireSignal(signal).reason,
    createSignal: create,
    abortSignal: (signal, reason) => abort(requireSignal(signal), reason),
    onAbort: (signal, act) => onAbort(requireSignal(signal), act),
  }
}
export default unit
