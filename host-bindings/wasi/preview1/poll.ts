/**
 * `poll_oneoff`: files and streams are ready at once, time comes through the machine. Nothing spins.
 *
 * A guest that was suspended here calls again with the same arguments: the time from which its timeouts count is kept
 * meanwhile, so that it does not start anew.
 */
import { wasi } from '@bjorn3/browser_wasi_shim'
import type { WasiClock, WasiTurns } from '../../../src/ports/wasi-host.ts'
import type { Descriptors } from './descriptors.ts'
import type { GuestMemory } from './guest-memory.ts'

const SUBSCRIPTION_BYTES = 48
const EVENT_BYTES = 32
const MAX_SUBSCRIPTIONS = 1_024
const ABSOLUTE_TIME = 1

export interface PollContext {
  readonly memory: GuestMemory
  readonly descriptors: Descriptors
  readonly clock: WasiClock | undefined
  readonly turns: WasiTurns
  /** Time of the monotonic clock at which the suspended poll began; undefined where none is suspended. */
  waitingSinceNs: bigint | undefined
}

interface PollEvent {
  readonly userdata: bigint
  readonly kind: number
  readonly errno: number
  readonly bytes: number
  readonly hangup: boolean
}

interface Timeout {
  readonly userdata: bigint
  readonly untilNs: bigint
}

/** @returns errno */
export function pollOneOff(
  context: PollContext,
  subscriptions: number,
  events: number,
  count: number,
  result: number,
): number {
  if (count === 0 || count > MAX_SUBSCRIPTIONS) return wasi.ERRNO_INVAL
  const { memory, turns } = context
  memory.requireRange(subscriptions, count * SUBSCRIPTION_BYTES)
  memory.requireRange(events, count * EVENT_BYTES)
  const view = memory.view()
  const asked = Array.from({ length: count }, (_, index) =>
    subscribe(context, view, subscriptions + index * SUBSCRIPTION_BYTES),
  )
  const timeouts = asked.filter((one): one is Timeout => 'untilNs' in one)
  const ready = asked.filter((one): one is PollEvent => !('untilNs' in one))
  const now = timeouts.length === 0 ? 0n : currentTime(context)
  const firstNs = timeouts.reduce((first, { untilNs }) => (untilNs < first ? untilNs : first), 1n << 64n)
  let reachedNs = now
  if (ready.length === 0 && firstNs > now) {
    const came = turns.wait({ untilNs: firstNs, requests: [] })
    if (came === 'impossible') return wasi.ERRNO_NOTSUP
    if (came === 'suspended') return wasi.ERRNO_SUCCESS
    reachedNs = firstNs
  }
  context.waitingSinceNs = undefined
  for (const { userdata, untilNs } of timeouts) {
    if (untilNs > reachedNs) continue
    ready.push({ userdata, kind: wasi.EVENTTYPE_CLOCK, errno: 0, bytes: 0, hangup: false })
  }
  writeEvents(memory, events, result, ready)
  return wasi.ERRNO_SUCCESS
}

/** What is ready at once, a failure among it, or a time to wait for. */
function subscribe(context: PollContext, view: DataView, at: number): PollEvent | Timeout {
  const userdata = view.getBigUint64(at, true)
  const kind = view.getUint8(at + 8)
  const failed = (errno: number): PollEvent => ({ userdata, kind, errno, bytes: 0, hangup: false })
  switch (kind) {
    case wasi.EVENTTYPE_CLOCK: {
      if (context.clock === undefined) return failed(wasi.ERRNO_NOTCAPABLE)
      const id = view.getUint32(at + 16, true)
      const timeout = view.getBigUint64(at + 24, true)
      const isAbsolute = (view.getUint16(at + 40, true) & ABSOLUTE_TIME) !== 0
      if (id !== wasi.CLOCKID_REALTIME && id !== wasi.CLOCKID_MONOTONIC) return failed(wasi.ERRNO_INVAL)
      return { userdata, untilNs: dueAt(context, context.clock, id, timeout, isAbsolute) }
    }
    case wasi.EVENTTYPE_FD_READ:
    case wasi.EVENTTYPE_FD_WRITE: {
      const fd = context.descriptors.find(view.getUint32(at + 16, true))
      if (fd === undefined) return failed(wasi.ERRNO_BADF)
      const direction = kind === wasi.EVENTTYPE_FD_READ ? 'read' : 'write'
      return { userdata, kind, errno: 0, ...fd.readiness(direction) }
    }
    default:
      return failed(wasi.ERRNO_INVAL)
  }
}

/** On the monotonic clock. */
function dueAt(
  context: PollContext,
  clock: WasiClock,
  id: number,
  timeout: bigint,
  isAbsolute: boolean,
): bigint {
  context.waitingSinceNs ??= clock.monotonicNs()
  if (!isAbsolute) return context.waitingSinceNs + timeout
  if (id === wasi.CLOCKID_MONOTONIC) return timeout
  const now = clock.monotonicNs()
  return now + timeout - clock.wallNs()
}

function currentTime({ clock }: PollContext): bigint {
  return clock?.monotonicNs() ?? 0n
}

function writeEvents(memory: GuestMemory, events: number, result: number, ready: readonly PollEvent[]): void {
  const view = memory.view()
  for (const [index, { userdata, kind, errno, bytes, hangup }] of ready.entries()) {
    const at = events + index * EVENT_BYTES
    view.setBigUint64(at, userdata, true)
    view.setUint16(at + 8, errno, true)
    view.setUint8(at + 10, kind)
    view.setBigUint64(at + 16, BigInt(bytes), true)
    view.setUint16(at + 24, hangup ? wasi.EVENTRWFLAGS_FD_READWRITE_HANGUP : 0, true)
  }
  view.setUint32(result, ready.length, true)
}
