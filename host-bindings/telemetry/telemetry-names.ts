/**
 * What spans, attributes, events and metrics are called in OpenTelemetry. docs/telemetry.md shows these tables; a test
 * compares them.
 *
 * Where the semantic conventions have a name, it is taken: `error.type`, and those of tools of generative AI
 * (development, as of 1.38), under which backends show the calls of agents. All else begins with `caisson.`.
 */
import type { SpanAttributes, SpanEvent, SpanKind } from '../../src/ports/telemetry.ts'

/** The version of the names: it changes when one of them does. */
export const TELEMETRY_VERSION = '1'

/** Followed by the name of what it is about, where there is one. */
export const SPAN_NAMES: Readonly<Record<SpanKind, string>> = {
  run: 'run',
  node: 'node',
  call: 'execute_tool',
  approval: 'approval',
  checkpoint: 'checkpoint',
}

export const ATTRIBUTE_NAMES: Readonly<Record<keyof SpanAttributes, string>> = {
  form: 'caisson.run.form',
  run: 'caisson.run.name',
  resumed: 'caisson.resumed',
  engine: 'caisson.engine.id',
  plan: 'caisson.plan.name',
  planVersion: 'caisson.plan.version',
  planDigest: 'caisson.plan.digest',
  node: 'caisson.node.path',
  nodeKind: 'caisson.node.kind',
  capability: 'caisson.capability',
  effect: 'caisson.effect',
  callId: 'caisson.call.id',
  attempts: 'caisson.attempts',
  fuel: 'caisson.fuel.used',
  memoryBytes: 'caisson.memory.size',
  calls: 'caisson.calls.count',
  bytesIn: 'caisson.bytes.in',
  bytesOut: 'caisson.bytes.out',
  bytes: 'caisson.checkpoint.size',
  checkpoint: 'caisson.checkpoint.id',
  stateDigest: 'caisson.state.digest',
  request: 'caisson.request.digest',
  limit: 'caisson.limit',
}

/** Of every span at its end. */
export const OUTCOME = 'caisson.outcome'
export const ERROR_CLASS = 'caisson.error.class'
export const ERROR_TYPE = 'error.type'

/** Of spans of calls. */
export const TOOL_OPERATION = 'gen_ai.operation.name'
export const TOOL_NAME = 'gen_ai.tool.name'
/** With `content` alone. */
export const TOOL_ARGUMENTS = 'gen_ai.tool.call.arguments'
export const TOOL_RESULT = 'gen_ai.tool.call.result'

export const EVENT_NAMES: Readonly<Record<SpanEvent, string>> = {
  retrying: 'caisson.retrying',
  waiting: 'caisson.waiting',
  frozen: 'caisson.frozen',
  recovered: 'caisson.recovered',
}
export const EVENT_ATTEMPT = 'caisson.attempt'
export const EVENT_REASON = 'caisson.reason'

/** Of metrics. */
export const DIRECTION = 'caisson.direction'
/** Path of a node without the numbers of items and rounds. */
export const NODE_PLACE = 'caisson.node.place'
export const SPAN_KIND = 'caisson.span.kind'

export interface MetricShape {
  readonly name: string
  readonly kind: 'counter' | 'up-down counter' | 'histogram'
  readonly unit: string
  readonly description: string
  /** Attributes that it has. */
  readonly by: readonly string[]
}

const CAPABILITY = ATTRIBUTE_NAMES.capability

export const METRICS: Readonly<
  Record<
    | 'calls'
    | 'refusals'
    | 'retries'
    | 'fuel'
    | 'io'
    | 'dropped'
    | 'callDuration'
    | 'nodeDuration'
    | 'approvalDuration'
    | 'checkpointDuration'
    | 'checkpointSize'
    | 'liveGuests'
    | 'waitingRuns',
    MetricShape
  >
> = {
  calls: {
    name: 'caisson.calls',
    kind: 'counter',
    unit: '{call}',
    description: 'Calls that came to an end.',
    by: [CAPABILITY, OUTCOME],
  },
  refusals: {
    name: 'caisson.call.refusals',
    kind: 'counter',
    unit: '{call}',
    description: 'Calls that were not made.',
    by: [CAPABILITY, ERROR_TYPE],
  },
  retries: {
    name: 'caisson.retries',
    kind: 'counter',
    unit: '{attempt}',
    description: 'Attempts after the first one, of calls and of nodes.',
    by: [SPAN_KIND, ERROR_TYPE],
  },
  fuel: {
    name: 'caisson.fuel',
    kind: 'counter',
    unit: '{fuel}',
    description: 'Fuel that programs burnt.',
    by: [],
  },
  io: {
    name: 'caisson.guest.io',
    kind: 'counter',
    unit: 'By',
    description: 'Bytes that went into guests, and out of them.',
    by: [DIRECTION],
  },
  dropped: {
    name: 'caisson.telemetry.dropped',
    kind: 'counter',
    unit: '{report}',
    description: 'What could not be told.',
    by: [],
  },
  callDuration: {
    name: 'caisson.call.duration',
    kind: 'histogram',
    unit: 's',
    description: 'From when a call is asked for to its answer, all attempts included.',
    by: [CAPABILITY, OUTCOME],
  },
  nodeDuration: {
    name: 'caisson.node.duration',
    kind: 'histogram',
    unit: 's',
    description: 'From when a node begins here to its end, or to when the run is put down.',
    by: [ATTRIBUTE_NAMES.plan, NODE_PLACE, OUTCOME],
  },
  approvalDuration: {
    name: 'caisson.approval.duration',
    kind: 'histogram',
    unit: 's',
    description: 'How long a person was waited for.',
    by: [OUTCOME],
  },
  checkpointDuration: {
    name: 'caisson.checkpoint.duration',
    kind: 'histogram',
    unit: 's',
    description: 'How long it took to write a checkpoint.',
    by: [OUTCOME],
  },
  checkpointSize: {
    name: 'caisson.checkpoint.size',
    kind: 'histogram',
    unit: 'By',
    description: 'Bytes of a checkpoint.',
    by: [],
  },
  liveGuests: {
    name: 'caisson.guests.live',
    kind: 'up-down counter',
    unit: '{guest}',
    description: 'Guests that live in this process.',
    by: [],
  },
  waitingRuns: {
    name: 'caisson.runs.waiting',
    kind: 'up-down counter',
    unit: '{run}',
    description: 'Kept runs that this process put down, and nobody took up here since.',
    by: [ATTRIBUTE_NAMES.form],
  },
}
