/** Counts and measures what spans and events say. */
import type { SpanEnd, SpanError, SpanStart, TelemetryEvent } from '../../src/ports/telemetry.ts'
import type { OpenTelemetryMeter } from './open-telemetry-api.ts'
import {
  ATTRIBUTE_NAMES,
  DIRECTION,
  ERROR_TYPE,
  METRICS,
  NODE_PLACE,
  OUTCOME,
  SPAN_KIND,
} from './telemetry-names.ts'

/** Runs of which it is known that they wait: beyond it they are not counted, so that none is held for good. */
const MOST_WAITING = 100_000
/** Seconds: calls and checkpoints take from less than a millisecond to minutes, people to days. */
const SECONDS = [0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60, 300, 3_600, 86_400]
const BYTES = [1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216]
/** How runs end that can be gone on with. */
const PUT_DOWN: ReadonlySet<string> = new Set(['suspended', 'waiting', 'frozen', 'interrupted', 'exhausted'])

type Shape = (typeof METRICS)[keyof typeof METRICS]
type Counter = ReturnType<OpenTelemetryMeter['createCounter']>
type Histogram = ReturnType<OpenTelemetryMeter['createHistogram']>

export class TelemetryMetrics {
  readonly #calls: Counter
  readonly #refusals: Counter
  readonly #retries: Counter
  readonly #fuel: Counter
  readonly #io: Counter
  readonly #dropped: Counter
  readonly #callDuration: Histogram
  readonly #nodeDuration: Histogram
  readonly #approvalDuration: Histogram
  readonly #checkpointDuration: Histogram
  readonly #checkpointSize: Histogram
  readonly #liveGuests: Counter
  readonly #waitingRuns: Counter
  readonly #waiting = new Set<string>()

  constructor(meter: OpenTelemetryMeter) {
    const counter = ({ name, unit, description }: Shape): Counter =>
      meter.createCounter(name, { unit, description })
    const upDown = ({ name, unit, description }: Shape): Counter =>
      meter.createUpDownCounter(name, { unit, description })
    const histogram = ({ name, unit, description }: Shape): Histogram => {
      const explicitBucketBoundaries = unit === 's' ? SECONDS : BYTES
      return meter.createHistogram(name, { unit, description, advice: { explicitBucketBoundaries } })
    }
    this.#calls = counter(METRICS.calls)
    this.#refusals = counter(METRICS.refusals)
    this.#retries = counter(METRICS.retries)
    this.#fuel = counter(METRICS.fuel)
    this.#io = counter(METRICS.io)
    this.#dropped = counter(METRICS.dropped)
    this.#callDuration = histogram(METRICS.callDuration)
    this.#nodeDuration = histogram(METRICS.nodeDuration)
    this.#approvalDuration = histogram(METRICS.approvalDuration)
    this.#checkpointDuration = histogram(METRICS.checkpointDuration)
    this.#checkpointSize = histogram(METRICS.checkpointSize)
    this.#liveGuests = upDown(METRICS.liveGuests)
    this.#waitingRuns = upDown(METRICS.waitingRuns)
  }

  event(name: TelemetryEvent, attributes: Readonly<Record<string, string | number | boolean>>): void {
    switch (name) {
      case 'guest.live':
        this.#liveGuests.add(Number(attributes.change))
        return
      case 'telemetry.dropped':
        this.#dropped.add(Number(attributes.count))
        return
      case 'capability.sync_calls': {
        const { capability = '', count, failed } = attributes
        const named = { [ATTRIBUTE_NAMES.capability]: capability }
        const completed = Number(count) - Number(failed)
        if (completed > 0) this.#calls.add(completed, { ...named, [OUTCOME]: 'completed' })
        if (Number(failed) > 0) this.#calls.add(Number(failed), { ...named, [OUTCOME]: 'failed' })
        return
      }
      default: // told by spans
    }
  }

  begin({ kind, parent, attributes: { form = 'program', run } }: SpanStart): void {
    if (kind !== 'run' || run === undefined || parent !== undefined) return
    if (this.#waiting.delete(run)) this.#waitingRuns.add(-1, { [ATTRIBUTE_NAMES.form]: form })
  }

  retried({ kind }: SpanStart, error: SpanError | undefined): void {
    this.#retries.add(1, { [SPAN_KIND]: kind, [ERROR_TYPE]: error?.code ?? '' })
  }

  end(start: SpanStart, end: SpanEnd, tookMs: number): void {
    const { kind, name, attributes } = start
    const { outcome, error, spent } = end
    const seconds = Math.max(0, tookMs) / 1_000
    switch (kind) {
      case 'run':
        if (spent !== undefined) {
          this.#fuel.add(spent.fuel)
          this.#io.add(spent.bytesIn, { [DIRECTION]: 'in' })
          this.#io.add(spent.bytesOut, { [DIRECTION]: 'out' })
        }
        this.#endRun(start, outcome)
        return
      case 'call': {
        const by = { [ATTRIBUTE_NAMES.capability]: name, [OUTCOME]: outcome }
        this.#calls.add(1, by)
        this.#callDuration.record(seconds, by)
        if (outcome === 'refused')
          this.#refusals.add(1, { [ATTRIBUTE_NAMES.capability]: name, [ERROR_TYPE]: error?.code ?? '' })
        return
      }
      case 'node': {
        const { plan = '' } = attributes
        this.#nodeDuration.record(seconds, {
          [ATTRIBUTE_NAMES.plan]: plan,
          [NODE_PLACE]: name,
          [OUTCOME]: outcome,
        })
        return
      }
      case 'approval':
        this.#approvalDuration.record(seconds, { [OUTCOME]: outcome })
        return
      case 'checkpoint':
        this.#checkpointDuration.record(seconds, { [OUTCOME]: outcome })
        if (end.attributes?.bytes !== undefined) this.#checkpointSize.record(end.attributes.bytes)
        return
    }
  }

  #endRun({ parent, attributes: { form = 'program', run } }: SpanStart, outcome: string): void {
    if (run === undefined || parent !== undefined || !PUT_DOWN.has(outcome)) return
    if (this.#waiting.has(run) || this.#waiting.size >= MOST_WAITING) return
    this.#waiting.add(run)
    this.#waitingRuns.add(1, { [ATTRIBUTE_NAMES.form]: form })
  }
}
