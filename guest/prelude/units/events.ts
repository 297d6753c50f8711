/** `Event`, `EventTarget` and `CustomEvent` of the DOM standard, without a tree: the path of an event is its target. */

import type { AbortExports } from '../abort-exports.ts'
import { dictionary, requireArguments } from '../arguments.ts'
import type { Unit } from '../host.ts'
import type { DOMExceptionExports } from './dom-exception.ts'

type Callback = ((event: unknown) => unknown) | { handleEvent(event: unknown): unknown }

interface Listener {
  readonly type: string
  readonly callback: Callback
  readonly capture: boolean
  readonly once: boolean
  readonly passive: boolean
  removed: boolean
}

/** What other units need beside the globals. */
export interface EventExports {
  readonly Event: new (type: string, init?: unknown) => object
  readonly EventTarget: new () => EventTargetLike
  /** Dispatches an event of ours, which is trusted. */
  readonly fire: (target: object, type: string) => void
}

export interface EventTargetLike {
  addEventListener(type: unknown, callback: unknown, options?: unknown): void
  removeEventListener(type: unknown, callback: unknown, options?: unknown): void
  dispatchEvent(event: unknown): boolean
}

const unit: Unit<EventExports & Record<string, unknown>> = ({ host, use }) => {
  let dispatch!: (target: EventTarget, event: Event) => boolean
  let trusted = false

  class Event {
    readonly #type: string
    readonly #bubbles: boolean
    readonly #cancelable: boolean
    readonly #composed: boolean
    readonly #timeStamp = host.now()
    #target: EventTarget | null = null
    #current: EventTarget | null = null
    #stopped = false
    #stoppedAtOnce = false
    #canceled = false
    #passive = false

    constructor(type: unknown, init: unknown = null) {
      requireArguments(arguments.length, 1, 'Event')
      const { bubbles, cancelable, composed } = dictionary(init, 'Event')
      this.#type = `${type as string}`
      this.#bubbles = Boolean(bubbles)
      this.#cancelable = Boolean(cancelable)
      this.#composed = Boolean(composed)
      const isTrusted = trusted
      Object.defineProperty(this, 'isTrusted', { get: () => isTrusted, enumerable: true })
    }

    get type(): string {
      return this.#type
    }
    get bubbles(): boolean {
      return this.#bubbles
    }
    get cancelable(): boolean {
      return this.#cancelable
    }
    get composed(): boolean {
      return this.#composed
    }
    get timeStamp(): number {
      return this.#timeStamp
    }
    get target(): EventTarget | null {
      return this.#target
    }
    get srcElement(): EventTarget | null {
      return this.#target
    }
    get currentTarget(): EventTarget | null {
      return this.#current
    }
    get eventPhase(): number {
      return this.#current === null ? 0 : 2
    }
    get defaultPrevented(): boolean {
      return this.#canceled
    }
    get returnValue(): boolean {
      return !this.#canceled
    }
    set returnValue(value: unknown) {
      if (!value) this.preventDefault()
    }
    get cancelBubble(): boolean {
      return this.#stopped
    }
    set cancelBubble(value: unknown) {
      if (value) this.#stopped = true
    }

    composedPath(): EventTarget[] {
      return this.#current === null ? [] : [this.#current]
    }

    stopPropagation(): void {
      this.#stopped = true
    }

    stopImmediatePropagation(): void {
      this.#stopped = true
      this.#stoppedAtOnce = true
    }

    preventDefault(): void {
      if (this.#cancelable && !this.#passive) this.#canceled = true
    }

    static {
      dispatch = (target, event) => {
        if (event.#current !== null) {
          const { DOMException } = use('dom-exception') as unknown as DOMExceptionExports
          throw new DOMException('The event is being dispatched already.', 'InvalidStateError')
        }
        event.#target = target
        event.#current = target
        if (!event.#stopped) {
          // Those that capture come first, also at the target.
          for (const capture of [true, false]) {
            for (const listener of listenersOf(target).slice()) {
              if (listener.removed || listener.type !== event.#type || listener.capture !== capture) continue
              if (listener.once) remove(target, listener)
              event.#passive = listener.passive
              call(listener.callback, target, event)
              event.#passive = false
              if (event.#stoppedAtOnce) break
            }
            if (event.#stopped) break
          }
        }
        event.#current = null
        event.#stopped = false
        event.#stoppedAtOnce = false
        return !event.#canceled
      }
    }
  }
  for (const object of [Event, Event.prototype]) {
    for (const [value, name] of ['NONE', 'CAPTURING_PHASE', 'AT_TARGET', 'BUBBLING_PHASE'].entries()) {
      Object.defineProperty(object, name, { value, enumerable: true })
    }
  }

  class CustomEvent extends Event {
    readonly #detail: unknown

    constructor(type: unknown, init: unknown = null) {
      requireArguments(arguments.length, 1, 'CustomEvent')
      super(type, init)
      this.#detail = dictionary(init, 'CustomEvent').detail ?? null
    }

    get detail(): unknown {
      return this.#detail
    }
  }

  let listenersOf!: (target: EventTarget) => Listener[]

  class EventTarget implements EventTargetLike {
    readonly #listeners: Listener[] = []

    addEventListener(type: unknown, callback: unknown, options: unknown = null): void {
      requireArguments(arguments.length, 2, 'EventTarget.addEventListener')
      const given =
        typeof options === 'object' && options !== null ? (options as Record<string, unknown>) : {}
      const capture = captures(options)
      const { once, passive, signal } = given
      const abort = signal === undefined ? undefined : (use('abort') as unknown as AbortExports)
      if (abort?.isAborted(signal) === true) return
      if (!isCallback(callback, 'addEventListener')) return
      const name = `${type as string}`
      if (this.#find(name, callback, capture) !== undefined) return
      const listener: Listener = {
        type: name,
        callback,
        capture,
        once: Boolean(once),
        passive: Boolean(passive),
        removed: false,
      }
      this.#listeners.push(listener)
      abort?.onAbort(signal, () => remove(this, listener))
    }

    removeEventListener(type: unknown, callback: unknown, options: unknown = null): void {
      requireArguments(arguments.length, 2, 'EventTarget.removeEventListener')
      if (!isCallback(callback, 'removeEventListener')) return
      const listener = this.#find(`${type as string}`, callback, captures(options))
      if (listener !== undefined) remove(this, listener)
    }

    dispatchEvent(event: unknown): boolean {
      void this.#listeners
      if (!(event instanceof Event)) throw new TypeError('EventTarget.dispatchEvent takes an Event.')
      return dispatch(this, event)
    }

    #find(type: string, callback: Callback, capture: boolean): Listener | undefined {
      return this.#listeners.find(
        (one) => one.type === type && one.callback === callback && one.capture === capture,
      )
    }

    static {
      listenersOf = (target) => target.#listeners
    }
  }

  function remove(target: EventTarget, listener: Listener): void {
    const listeners = listenersOf(target)
    const at = listeners.indexOf(listener)
    if (at >= 0) listeners.splice(at, 1)
    listener.removed = true
  }

  function call(callback: Callback, target: EventTarget, event: Event): void {
    try {
      if (typeof callback === 'function') callback.call(target, event)
      else {
        const { handleEvent } = callback
        if (typeof handleEvent !== 'function')
          throw new TypeError('handleEvent of a listener is no function.')
        handleEvent.call(callback, event)
      }
    } catch (error) {
      host.report(error)
    }
  }

  const fire = (target: object, type: string): void => {
    trusted = true
    const event = new Event(type)
    trusted = false
    dispatch(target as EventTarget, event)
  }

  return { Event, EventTarget, CustomEvent, fire }
}
export default unit

function captures(options: unknown): boolean {
  return Boolean(
    typeof options === 'object' && options !== null ? (options as { capture?: unknown }).capture : options,
  )
}

/** @returns false for null, which stands for no listener @throws TypeError for what cannot be one */
function isCallback(callback: unknown, method: string): callback is Callback {
  if (typeof callback === 'function' || (typeof callback === 'object' && callback !== null)) return true
  if (callback === null || callback === undefined) return false
  throw new TypeError(`EventTarget.${method} takes a function or an object with handleEvent.`)
}
