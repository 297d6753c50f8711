/**
 * What telemetry is told of a program while this process has it: from its start, or from where it is taken up, until
 * it ends or is put down.
 *
 * Invariants
 * 1. What was used up before this process had it is not told as used up again.
 * 2. A program of a plan is told as a part of its node; what the plan evaluates for itself is not told.
 */
import { CaissonError } from '../base/errors.ts'
import type { Outcome } from '../machine/outcome.ts'
import type { Usage } from '../machine/turn.ts'
import type { SpanAttributes, SpanError, Telemetry, TelemetrySpan } from '../ports/telemetry.ts'
import { spanError } from './span-facts.ts'

/** What a program is told to be a part of: left out, of what is current for the sink; `null`: it is not told. */
export type Under = TelemetrySpan | null | undefined

export interface ProgramTold {
  readonly engine: string
  /** Name of a kept run. */
  readonly run?: string
  /** `traceparent` of the span that an earlier process told last. */
  readonly earlier?: string | undefined
  readonly resumed?: boolean
}

/** Begins to tell; undefined where nobody wants to know. */
export function beginRunSpan(
  telemetry: Telemetry | undefined,
  under: Under,
  { earlier, ...told }: ProgramTold,
): TelemetrySpan | undefined {
  if (telemetry?.span === undefined || under === null) return undefined
  return telemetry.span({
    kind: 'run',
    name: '',
    ...(under !== undefined && { parent: under }),
    ...(earlier !== undefined && { links: [earlier] }),
    attributes: { form: 'program', ...told },
  })
}

/** @param before what was used up when this process took it up */
export function endRunSpan(
  span: TelemetrySpan | undefined,
  outcome: Outcome,
  more: SpanAttributes = {},
  before: Pick<Usage, 'fuel' | 'bytesIn' | 'bytesOut'> = NOTHING,
): void {
  if (span === undefined) return
  const { fuel, memoryBytes, calls, bytesIn, bytesOut } = outcome.usage
  span.end({
    outcome: outcome.status,
    error: errorOf(outcome),
    attributes: {
      fuel,
      memoryBytes,
      calls,
      bytesIn,
      bytesOut,
      ...(outcome.status === 'exhausted' && { limit: outcome.limit }),
      ...more,
    },
    spent: {
      fuel: Math.max(0, fuel - before.fuel),
      bytesIn: Math.max(0, bytesIn - before.bytesIn),
      bytesOut: Math.max(0, bytesOut - before.bytesOut),
    },
  })
}

/** It is over here for a reason of the host's: nothing is known of how it ended. */
export function failRunSpan(span: TelemetrySpan | undefined, error: unknown): void {
  span?.end({ outcome: 'lost', error: spanError(CaissonError.is(error) ? error.code : undefined) })
}

const NOTHING = { fuel: 0, bytesIn: 0, bytesOut: 0 }

function errorOf(outcome: Outcome): SpanError | undefined {
  if (outcome.status === 'failed') return spanError(outcome.error.code)
  return outcome.status === 'exhausted' ? spanError('budget_exhausted') : undefined
}
