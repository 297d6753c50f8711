/**
 * What is used of `@opentelemetry/api`, as shapes: nothing of it is imported, so that who has no need of it has none of
 * it, and two copies of it in one process do not matter. A test compares the shapes with the package.
 */

/** What `import * as api from '@opentelemetry/api'` gives. */
export interface OpenTelemetryApi {
  readonly trace: {
    getTracer(name: string, version?: string): OpenTelemetryTracer
    setSpan(context: OpenTelemetryContext, span: OpenTelemetrySpan): OpenTelemetryContext
  }
  readonly context: {
    active(): OpenTelemetryContext
    with<T>(context: OpenTelemetryContext, work: () => T): T
  }
  readonly metrics: { getMeter(name: string, version?: string): OpenTelemetryMeter }
}

/** Handed back as it was given. Its methods are named so that nothing else is taken for one. */
export interface OpenTelemetryContext {
  getValue(key: symbol): unknown
  setValue(key: symbol, value: unknown): OpenTelemetryContext
  deleteValue(key: symbol): OpenTelemetryContext
}

export type OpenTelemetryAttributes = Record<string, string | number | boolean>

export interface OpenTelemetrySpanContext {
  traceId: string
  spanId: string
  traceFlags: number
  isRemote?: boolean
}

export interface OpenTelemetryTracer {
  startSpan(
    name: string,
    options?: {
      attributes?: OpenTelemetryAttributes
      links?: { context: OpenTelemetrySpanContext }[]
      startTime?: number
    },
    context?: OpenTelemetryContext,
  ): OpenTelemetrySpan
}

export interface OpenTelemetrySpan {
  spanContext(): OpenTelemetrySpanContext
  setAttribute(key: string, value: string | number | boolean): this
  setAttributes(attributes: OpenTelemetryAttributes): this
  addEvent(name: string, attributes?: OpenTelemetryAttributes): this
  setStatus(status: { code: number; message?: string }): this
  end(endTime?: number): void
  // The rest of a span: handed to `setSpan`, which asks for all of it.
  addLink(link: { context: OpenTelemetrySpanContext }): this
  addLinks(links: { context: OpenTelemetrySpanContext }[]): this
  updateName(name: string): this
  isRecording(): boolean
  recordException(exception: string | Error, time?: number): void
}

export interface OpenTelemetryMeter {
  createCounter(
    name: string,
    options?: InstrumentOptions,
  ): {
    add(value: number, attributes?: OpenTelemetryAttributes): void
  }
  createUpDownCounter(
    name: string,
    options?: InstrumentOptions,
  ): {
    add(value: number, attributes?: OpenTelemetryAttributes): void
  }
  createHistogram(
    name: string,
    options?: InstrumentOptions,
  ): {
    record(value: number, attributes?: OpenTelemetryAttributes): void
  }
}

interface InstrumentOptions {
  description?: string
  unit?: string
  advice?: { explicitBucketBoundaries?: number[] }
}
