/**
 * The embedder's telemetry, so that it can disturb nothing: the only form in which the rest of the runtime has it.
 *
 * Invariants
 * 1. No method throws, and no promise of a sink is waited for or left unhandled. What could not be told is counted, and
 *    the count is told with the next thing that gets through.
 * 2. What is done within a span is done once, whatever the sink does with it, and its result is what is given back.
 * 3. Nothing that a sink returns is written down but a `traceparent` of the standard's form.
 */
import type {
  SpanEnd,
  SpanEvent,
  SpanEventAttributes,
  SpanStart,
  Telemetry,
  TelemetryEvent,
  TelemetrySpan,
} from '../ports/telemetry.ts'
import { traceparentOf } from './span-facts.ts'

export class GuardedTelemetry implements Telemetry {
  readonly content: boolean
  /** Left out where the sink has none: then nothing is prepared for it. */
  readonly span?: (start: SpanStart) => TelemetrySpan | undefined
  readonly #sink: Telemetry
  #dropped = 0

  constructor(sink: Telemetry) {
    this.#sink = sink
    this.content = this.try(() => sink.content === true) ?? false
    if (typeof this.try(() => sink.span) === 'function') this.span = (start) => this.#span(start)
  }

  event(name: TelemetryEvent, attributes: Readonly<Record<string, string | number | boolean>>): void {
    const before = this.#dropped
    this.try(() => this.#sink.event(name, attributes))
    this.#tellDropped(before)
  }

  #span(start: SpanStart): TelemetrySpan | undefined {
    const { parent } = start
    const before = this.#dropped
    const given = this.try(() =>
      this.#sink.span?.(parent instanceof GuardedSpan ? { ...start, parent: parent.given } : start),
    )
    this.#tellDropped(before)
    return typeof given === 'object' && given !== null ? new GuardedSpan(given, this) : undefined
  }

  /** Undefined where it threw. */
  try<T>(tell: () => T): T | undefined {
    try {
      const told = tell()
      if (told instanceof Promise)
        told.catch(() => {
          this.#dropped += 1
        })
      return told
    } catch {
      this.#dropped += 1
      return undefined
    }
  }

  /** With what got through, and not with what did not. @param before that were dropped before it was told */
  #tellDropped(before: number): void {
    const count = this.#dropped
    if (count === 0 || count > before) return
    this.#dropped = 0
    this.try(() => this.#sink.event('telemetry.dropped', { count }))
    // It did not get through either.
    if (this.#dropped > 0) this.#dropped = count
  }
}

class GuardedSpan implements TelemetrySpan {
  readonly given: TelemetrySpan
  readonly #guard: GuardedTelemetry
  #ended = false

  constructor(given: TelemetrySpan, guard: GuardedTelemetry) {
    this.given = given
    this.#guard = guard
  }

  get traceparent(): string | undefined {
    return traceparentOf(this.#guard.try(() => this.given.traceparent))
  }

  event(name: SpanEvent, attributes: SpanEventAttributes): void {
    this.#guard.try(() => this.given.event?.(name, attributes))
  }

  within<T>(work: () => T): T {
    let done: { readonly value: T } | { readonly error: unknown } | undefined
    const once = (): T => {
      done ??= attempted(work)
      if ('error' in done) throw done.error
      return done.value
    }
    this.#guard.try(() => this.given.within?.(once))
    return once()
  }

  end(end: SpanEnd): void {
    if (this.#ended) return
    this.#ended = true
    this.#guard.try(() => this.given.end(end))
  }
}

function attempted<T>(work: () => T): { readonly value: T } | { readonly error: unknown } {
  try {
    return { value: work() }
  } catch (error) {
    return { error }
  }
}
