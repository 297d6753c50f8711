/** What is told of errors and taken of traces, also where nobody is told: the rest is fetched by who has telemetry. */
import { ERROR_CODES } from '../base/errors.ts'
import type { SpanError } from '../ports/telemetry.ts'

const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/

/** The text where it is a `traceparent`, whoever says so. */
export function traceparentOf(text: unknown): string | undefined {
  return typeof text === 'string' && TRACEPARENT.test(text) ? text : undefined
}

/** An error as it is told: codes that guests make up are all one. */
export function spanError(code: string | undefined, kind?: string): SpanError {
  return {
    code: code !== undefined && Object.hasOwn(ERROR_CODES, code) ? code : 'guest_error',
    ...(kind !== undefined && { class: kind }),
  }
}
