/**
 * Tells OpenTelemetry what happens: what `openRuntime({ telemetry })` takes, over the API that the application has set up.
 *
 * Invariants
 * 1. Nothing is told but names, numbers and digests, unless `content` asks for values; those are shown as
 *    `shown-content.ts` says.
 * 2. A tracer, meter or exporter that throws ends nothing: what it was told is dropped (the runtime counts it).
 * 3. Metrics have attributes of few values only: no name of a run, no path with numbers of items.
 */
import type {
  SpanEnd,
  SpanEvent,
  SpanEventAttributes,
  SpanStart,
  Telemetry,
  TelemetryEvent,
  TelemetrySpan,
} from '../../src/ports/telemetry.ts'
import type {
  OpenTelemetryApi,
  OpenTelemetryAttributes,
  OpenTelemetryMeter,
  OpenTelemetrySpan,
  OpenTelemetrySpanContext,
  OpenTelemetryTracer,
} from './open-telemetry-api.ts'
import { showContent } from './shown-content.ts'
import { TelemetryMetrics } from './telemetry-metrics.ts'
import {
  ATTRIBUTE_NAMES,
  ERROR_CLASS,
  ERROR_TYPE,
  EVENT_ATTEMPT,
  EVENT_NAMES,
  EVENT_REASON,
  OUTCOME,
  SPAN_NAMES,
  TELEMETRY_VERSION,
  TOOL_ARGUMENTS,
  TOOL_NAME,
  TOOL_OPERATION,
  TOOL_RESULT,
} from './telemetry-names.ts'

export interface OpenTelemetryOptions {
  /** `import * as api from '@opentelemetry/api'`, version 1.9 or newer. */
  readonly api: OpenTelemetryApi
  /** Default: the tracer `caisson` of the API. */
  readonly tracer?: OpenTelemetryTracer
  /** Default: the meter `caisson` of the API, asked for now: set up the SDK before. */
  readonly meter?: OpenTelemetryMeter
  /**
   * Tells arguments and results of calls, cut to `maxChars` each (default 1,000), without what stands under names that
   * say secret. Never those of guests with the label `secret`. Default false.
   */
  readonly content?: boolean | { readonly maxChars: number }
}

const LIBRARY = 'caisson'
const DEFAULT_CHARS = 1_000
/** SpanStatusCode.ERROR. */
const STATUS_ERROR = 2

/** For `openRuntime({ telemetry })`. */
export function openTelemetry(options: OpenTelemetryOptions): Telemetry {
  return new OpenTelemetry(options)
}

class OpenTelemetry implements Telemetry {
  readonly content: boolean
  readonly #api: OpenTelemetryApi
  readonly #tracer: OpenTelemetryTracer
  readonly #metrics: TelemetryMetrics
  readonly #maxChars: number

  constructor({ api, tracer, meter, content = false }: OpenTelemetryOptions) {
    this.#api = api
    this.#tracer = tracer ?? api.trace.getTracer(LIBRARY, TELEMETRY_VERSION)
    this.#metrics = new TelemetryMetrics(meter ?? api.metrics.getMeter(LIBRARY, TELEMETRY_VERSION))
    this.content = content !== false
    this.#maxChars = typeof content === 'object' ? content.maxChars : DEFAULT_CHARS
  }

  event(name: TelemetryEvent, attributes: Readonly<Record<string, string | number | boolean>>): void {
    this.#metrics.event(name, attributes)
  }

  span(start: SpanStart): TelemetrySpan {
    const { kind, name, parent, links = [], atMs } = start
    const { context, trace } = this.#api
    const active = context.active()
    const around = parent instanceof ToldSpan ? trace.setSpan(active, parent.given) : active
    const given = this.#tracer.startSpan(
      name === '' ? SPAN_NAMES[kind] : `${SPAN_NAMES[kind]} ${name}`,
      {
        attributes: this.#attributesOf(start),
        links: links.map((link) => ({ context: contextOf(link) })),
        ...(atMs !== undefined && { startTime: atMs }),
      },
      around,
    )
    this.#metrics.begin(start)
    return new ToldSpan(given, start, this.#api, this.#metrics, this.#maxChars)
  }

  #attributesOf({ kind, name, attributes, content }: SpanStart): OpenTelemetryAttributes {
    const named = renamed(attributes)
    if (kind !== 'call') return named
    named[TOOL_OPERATION] = SPAN_NAMES.call
    named[TOOL_NAME] = name
    if (content !== undefined) named[TOOL_ARGUMENTS] = showContent(content.args, this.#maxChars)
    return named
  }
}

class ToldSpan implements TelemetrySpan {
  readonly given: OpenTelemetrySpan
  readonly #start: SpanStart
  readonly #api: OpenTelemetryApi
  readonly #metrics: TelemetryMetrics
  readonly #maxChars: number
  readonly #beganMs = performance.now()

  constructor(
    given: OpenTelemetrySpan,
    start: SpanStart,
    api: OpenTelemetryApi,
    metrics: TelemetryMetrics,
    maxChars: number,
  ) {
    this.given = given
    // Without the values: a span may live for long.
    const { content: _values, ...rest } = start
    this.#start = rest
    this.#api = api
    this.#metrics = metrics
    this.#maxChars = maxChars
  }

  get traceparent(): string | undefined {
    const { traceId, spanId, traceFlags } = this.given.spanContext()
    return `00-${traceId}-${spanId}-${(traceFlags & 0xff).toString(16).padStart(2, '0')}`
  }

  event(name: SpanEvent, { attempt, error, reason }: SpanEventAttributes): void {
    this.given.addEvent(EVENT_NAMES[name], {
      ...(attempt !== undefined && { [EVENT_ATTEMPT]: attempt }),
      ...(reason !== undefined && { [EVENT_REASON]: reason }),
      ...(error !== undefined && { [ERROR_TYPE]: error.code }),
      ...(error?.class !== undefined && { [ERROR_CLASS]: error.class }),
    })
    if (name === 'retrying') this.#metrics.retried(this.#start, error)
  }

  within<T>(work: () => T): T {
    const { context, trace } = this.#api
    return context.with(trace.setSpan(context.active(), this.given), work)
  }

  end(end: SpanEnd): void {
    const { outcome, error, attributes, atMs, content } = end
    const { given } = this
    if (attributes !== undefined) given.setAttributes(renamed(attributes))
    given.setAttribute(OUTCOME, outcome)
    if (content !== undefined) given.setAttribute(TOOL_RESULT, showContent(content.result, this.#maxChars))
    // What a person refused, and what was stopped, is no error.
    if (error !== undefined && outcome !== 'stopped') {
      given.setAttribute(ERROR_TYPE, error.code)
      if (error.class !== undefined) given.setAttribute(ERROR_CLASS, error.class)
      given.setStatus({ code: STATUS_ERROR, message: error.code })
    }
    given.end(atMs)
    const began = this.#start.atMs
    const tookMs =
      began !== undefined && atMs !== undefined ? atMs - began : performance.now() - this.#beganMs
    this.#metrics.end(this.#start, end, tookMs)
  }
}

function renamed(attributes: SpanStart['attributes']): OpenTelemetryAttributes {
  const named: OpenTelemetryAttributes = {}
  for (const [name, value] of Object.entries(attributes))
    named[ATTRIBUTE_NAMES[name as keyof typeof ATTRIBUTE_NAMES]] = value
  return named
}

/** Of a `traceparent` that the runtime has checked. */
function contextOf(traceparent: string): OpenTelemetrySpanContext {
  const [, traceId = '', spanId = '', flags = '0'] = traceparent.split('-')
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true }
}
