/**
 * Everything of a waiting isolate that is not in its memory, as plain data: for snapshots.
 *
 * What comes back may have been outside of the process, so `parseIsolateState` takes nothing on trust. It checks
 * shapes and ranges. Addresses are only ever followed inside of the guest's own memory, so a wrong one harms that
 * guest alone.
 */
import { CaissonError } from '../base/errors.ts'
import type { AtEnd, GuestCapability, PendingCall } from '../machine/turn.ts'
import type { ConsoleLogState } from './console-log.ts'
import type { ProgramState } from './guest-program.ts'
import { type LogicalClockState, MAX_TIME_MS } from './logical-clock.ts'
import type { RandomState } from './randomness.ts'

/** A call that waits for its answer, with the cells of the guest's resolving functions. */
export interface PendingRecord extends PendingCall {
  readonly resolve: number
  readonly reject: number
}

export interface IsolateState {
  readonly version: 1
  readonly program: ProgramState
  readonly clock: LogicalClockState
  readonly random: RandomState
  readonly log: ConsoleLogState
  /** Consumed so far. */
  readonly fuel: number
  readonly calls: number
  readonly bytesIn: number
  readonly bytesOut: number
  /** Timers armed so far. */
  readonly timers: number
  /** When the next one is due; the timers themselves lie in the guest. */
  readonly wakeAtMs: number | undefined
  readonly atEnd: AtEnd
  /** In the order in which the guest's functions number them. */
  readonly capabilities: readonly GuestCapability[]
  /** In the order in which they were asked. */
  readonly pending: readonly PendingRecord[]
}

const FORMS = new Set(['script', 'body', 'module'])
const STAGES = new Set(['evaluating', 'final'])
const AT_END = new Set(['wait', 'drop'])
const MOST_CAPABILITIES = 10_000
const MOST_PENDING = 1_000_000
const MOST_TEXT = 65_536
const MOST_FILES = 100_000
const MOST_PLACES = 16_000_000
const MAX_ADDRESS = 2 ** 32 - 1

/** @throws CaissonError `corrupted` */
export function parseIsolateState(state: unknown): IsolateState {
  const whole = record(state, 'state')
  const { version, program, clock, random, log, fuel, calls, bytesIn, bytesOut, capabilities, pending } =
    whole
  if (version !== 1) throw refused('version', 'is not 1')
  const { fileName, form, columnShift, places, stage, promise, result, input, own } = record(
    program,
    'program',
  )
  const { mathRandom, seed, cryptoBytes } = record(random, 'random')
  const asked = count(calls, 'calls')
  let lastId = 0
  return {
    version,
    program: {
      fileName: text(fileName, 'program.fileName'),
      form: oneOf(form, FORMS, 'program.form') as ProgramState['form'],
      columnShift: count(columnShift, 'program.columnShift'),
      places: list(places, MOST_FILES, 'program.places').map((one) => {
        const [file, numbers] = list(one, 2, 'program.places')
        const of = list(numbers, MOST_PLACES, 'program.places')
        return [text(file, 'program.places'), of.map((number) => count(number, 'program.places'))] as const
      }),
      stage: oneOf(stage, STAGES, 'program.stage') as ProgramState['stage'],
      promise: address(promise, 'program.promise'),
      result: address(result, 'program.result'),
      input: address(input, 'program.input'),
      own: list(own, MOST_CAPABILITIES, 'program.own').map((one) => address(one, 'program.own')),
    },
    clock: {
      microseconds: count(record(clock, 'clock').microseconds, 'clock'),
      origin: count(record(clock, 'clock').origin, 'clock'),
    },
    random: {
      seed: text(seed, 'random.seed'),
      mathRandom:
        mathRandom === undefined
          ? undefined
          : (list(mathRandom, 4, 'random.mathRandom').map((word) =>
              address(word, 'random.mathRandom'),
            ) as unknown as RandomState['mathRandom']),
      cryptoBytes: count(cryptoBytes, 'random.cryptoBytes'),
    },
    log: {
      bytes: count(record(log, 'log').bytes, 'log.bytes'),
      dropped: count(record(log, 'log').dropped, 'log.dropped'),
      indent: count(record(log, 'log').indent, 'log.indent'),
    },
    fuel: count(fuel, 'fuel'),
    calls: asked,
    bytesIn: count(bytesIn, 'bytesIn'),
    bytesOut: count(bytesOut, 'bytesOut'),
    timers: count(whole.timers, 'timers'),
    wakeAtMs: whole.wakeAtMs === undefined ? undefined : time(whole.wakeAtMs, 'wakeAtMs'),
    atEnd: oneOf(whole.atEnd, AT_END, 'atEnd') as AtEnd,
    capabilities: list(capabilities, MOST_CAPABILITIES, 'capabilities').map((one) => {
      const { name, sync } = record(one, 'capabilities')
      if (typeof sync !== 'boolean') throw refused('capabilities', 'has no true or false in sync')
      return { name: text(name, 'capabilities.name'), sync }
    }),
    pending: list(pending, MOST_PENDING, 'pending').map((one) => {
      const call = record(one, 'pending')
      const id = count(call.id, 'pending.id')
      if (id <= lastId || id > asked) throw refused('pending.id', 'is not the next of those that were asked')
      lastId = id
      const { askedAtMs } = call
      if (typeof askedAtMs !== 'number' || !(askedAtMs >= 0 && askedAtMs < Number.POSITIVE_INFINITY)) {
        throw refused('pending.askedAtMs', 'is no time')
      }
      return {
        id,
        capability: text(call.capability, 'pending.capability'),
        args: call.args,
        bytes: count(call.bytes, 'pending.bytes'),
        askedAtMs,
        resolve: address(call.resolve, 'pending.resolve'),
        reject: address(call.reject, 'pending.reject'),
      }
    }),
  }
}

function record(value: unknown, where: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw refused(where, 'is no record')
  return value as Record<string, unknown>
}

function list(value: unknown, most: number, where: string): readonly unknown[] {
  // One with holes has undefined in it, which `map` would pass over.
  if (!Array.isArray(value) || value.length > most || value.includes(undefined)) {
    throw refused(where, `is no list of at most ${most}`)
  }
  return value
}

function text(value: unknown, where: string): string {
  if (typeof value !== 'string' || value.length > MOST_TEXT) throw refused(where, 'is no text, or too long')
  return value
}

function oneOf(value: unknown, allowed: ReadonlySet<string>, where: string): string {
  if (typeof value !== 'string' || !allowed.has(value)) throw refused(where, 'has no value that is known')
  return value
}

function count(value: unknown, where: string): number {
  if (!Number.isSafeInteger(value) || (value as number) < 0) throw refused(where, 'is no whole number from 0')
  return value as number
}

function time(value: unknown, where: string): number {
  if (typeof value !== 'number' || !(value >= 0 && value <= MAX_TIME_MS)) throw refused(where, 'is no time')
  return value
}

function address(value: unknown, where: string): number {
  if (count(value, where) > MAX_ADDRESS) throw refused(where, 'is no address')
  return value as number
}

function refused(where: string, what: string): CaissonError {
  return new CaissonError(
    'corrupted',
    `The state of a captured guest contradicts itself: ${where} ${what}.`,
    {
      details: { where },
    },
  )
}
