/**
 * Timers: `setTimeout`, `setInterval`, `setImmediate` and what clears them.
 *
 * All of them lie here, in the guest. The host knows one number, the time at which the next one is due, and calls
 * `fireTimer` when logical time is there. Times are whole microseconds of logical time, which add exactly.
 *
 * Invariants
 * 1. Timers fire in the order in which they are due; those that are due at once, in the order in which they were set.
 * 2. Each callback is a task of its own: what one throws is reported, and the others fire all the same.
 * 3. Nothing that a guest puts on globals or prototypes changes when a timer fires, or with what: only functions that
 *    were captured before any guest ran are called, and no array is written to that has a prototype.
 * 4. A timer that is set while others fire is due later than they were: a turn ends.
 * 5. An interval keeps its beat: it neither drifts nor catches up on beats that were missed.
 * 6. Every arming is counted by the host, before it has an effect.
 * 7. A timer of the prelude's own fires as any other, and keeps no program from its end.
 */
import { define } from './define.ts'

/** What timers need of the host. */
export interface TimerHost {
  /** Counts a timer that is armed. @returns logical time in microseconds since the epoch, which does not move by it */
  readonly armTimer: () => number
  /** Takes what a callback threw. */
  readonly report: (error: unknown) => void
}

/** What the host calls, and other parts of the prelude. */
export interface Timers {
  /** Fires the first timer if it is due at `at`, in microseconds. @returns whether one was due */
  readonly fireTimer: (at: number) => boolean
  /** When the next timer is due, in microseconds since the epoch; -1 without one. */
  readonly nextTimer: () => number
  /** How many timers are set that a program waits for at its end. */
  readonly countTimers: () => number
  /** As `setTimeout`, whatever became of that, for a timer that no program waits for at its end. */
  readonly set: (callback: () => void, ms: number) => number
  readonly clear: (id: number) => void
}

interface Timer {
  readonly id: number
  readonly callback: (...args: unknown[]) => unknown
  readonly args: readonly unknown[]
  /** Microseconds between two beats of an interval, else 0. */
  readonly period: number
  readonly waitedFor: boolean
  due: number
  /** Grows with every arming: which one comes first of those that are due at once. */
  order: number
  /** Place in the heap; -1 while it is not armed. */
  place: number
}

const { apply } = Reflect
const Refusal = TypeError
const bound = Function.prototype.bind.bind(Function.prototype.call) as unknown as <
  This,
  Args extends unknown[],
  R,
>(
  method: (this: This, ...args: Args) => R,
) => (self: This, ...args: Args) => R
const mapGet = bound(Map.prototype.get) as (map: Map<number, Timer>, id: number) => Timer | undefined
const mapSet = bound(Map.prototype.set) as (map: Map<number, Timer>, id: number, timer: Timer) => unknown
const mapDelete = bound(Map.prototype.delete) as (map: Map<number, Timer>, id: number) => boolean

/** Defines the globals. */
export function installTimers(host: TimerHost): Timers {
  const global = globalThis
  const byId = new Map<number, Timer>()
  const heap = newHeap()
  let lastId = 0
  let lastOrder = 0
  let waitedFor = 0

  const arm = (timer: Timer, due: number): void => {
    lastOrder += 1
    timer.order = lastOrder
    timer.due = due
    push(heap, timer)
  }

  /** @param delay in microseconds */
  const add = (what: Pick<Timer, 'callback' | 'args' | 'period' | 'waitedFor'>, delay: number): number => {
    const { callback, args, period } = what
    const now = host.armTimer()
    lastId += 1
    const timer: Timer = {
      id: lastId,
      callback,
      args,
      period,
      waitedFor: what.waitedFor,
      due: 0,
      order: 0,
      place: -1,
    }
    if (timer.waitedFor) waitedFor += 1
    mapSet(byId, timer.id, timer)
    arm(timer, now + delay)
    return timer.id
  }

  const forget = (timer: Timer): void => {
    mapDelete(byId, timer.id)
    if (timer.waitedFor) waitedFor -= 1
  }

  const clear = (id: number): void => {
    const timer = mapGet(byId, id)
    if (timer === undefined) return
    forget(timer)
    if (timer.place >= 0) removeAt(heap, timer.place)
  }

  const repeat = (timer: Timer): void => {
    const now = host.armTimer()
    const { due, period } = timer
    const late = now - due
    arm(timer, late < 0 ? due + period : due + late - (late % period) + period)
  }

  const globals = {
    setTimeout(callback: unknown, delay: unknown = 0, ...args: unknown[]): number {
      const fn = callable(callback, 'setTimeout')
      return add({ callback: fn, args, period: 0, waitedFor: true }, microseconds(delay))
    },
    setInterval(callback: unknown, delay: unknown = 0, ...args: unknown[]): number {
      const fn = callable(callback, 'setInterval')
      const period = microseconds(delay)
      return add({ callback: fn, args, period, waitedFor: true }, period)
    },
    setImmediate(callback: unknown, ...args: unknown[]): number {
      const fn = callable(callback, 'setImmediate')
      return add({ callback: fn, args, period: 0, waitedFor: true }, 1)
    },
    clearTimeout(id: unknown = 0): void {
      clear((id as number) | 0)
    },
    clearInterval(id: unknown = 0): void {
      clear((id as number) | 0)
    },
    clearImmediate(id: unknown = 0): void {
      clear((id as number) | 0)
    },
  }
  for (const [name, fn] of Object.entries(globals)) define(global, name, fn)

  return {
    fireTimer(at) {
      const timer = heap[0]
      if (timer === undefined || timer.due > at) return false
      removeAt(heap, 0)
      if (timer.period === 0) forget(timer)
      try {
        apply(timer.callback, global, timer.args)
      } catch (error) {
        host.report(error)
      }
      if (timer.period > 0 && mapGet(byId, timer.id) === timer) repeat(timer)
      return true
    },
    nextTimer: () => heap[0]?.due ?? -1,
    countTimers: () => waitedFor,
    set: (callback, ms) => add({ callback, args: [], period: 0, waitedFor: false }, microseconds(ms)),
    clear,
  }
}

/** @throws TypeError for anything else than a function: no text is evaluated */
function callable(callback: unknown, name: string): Timer['callback'] {
  if (typeof callback === 'function') return callback as Timer['callback']
  throw new Refusal(
    `${name} takes a function, and evaluates no text. Give it a function: ${name}(() => ..., ms).`,
  )
}

/** A delay as browsers read it (`long` of Web IDL), of at least a millisecond. */
function microseconds(delay: unknown): number {
  const ms = (delay as number) | 0
  return (ms < 1 ? 1 : ms) * 1_000
}

/** A binary heap. Without a prototype, so that writing to it is nobody else's business. */
function newHeap(): Timer[] {
  return Object.setPrototypeOf([], null) as Timer[]
}

function isBefore(a: Timer, b: Timer): boolean {
  return a.due < b.due || (a.due === b.due && a.order < b.order)
}

function put(heap: Timer[], timer: Timer, place: number): void {
  heap[place] = timer
  timer.place = place
}

function push(heap: Timer[], timer: Timer): void {
  rise(heap, timer, heap.length)
}

function removeAt(heap: Timer[], place: number): void {
  const removed = heap[place] as Timer
  const last = heap[heap.length - 1] as Timer
  heap.length -= 1
  removed.place = -1
  if (removed === last) return
  const parent = heap[(place - 1) >> 1]
  if (place > 0 && parent !== undefined && isBefore(last, parent)) rise(heap, last, place)
  else sink(heap, last, place)
}

/** Puts `timer` at `place`, or as far above as it belongs. */
function rise(heap: Timer[], timer: Timer, place: number): void {
  let at = place
  while (at > 0) {
    const above = (at - 1) >> 1
    const parent = heap[above] as Timer
    if (isBefore(parent, timer)) break
    put(heap, parent, at)
    at = above
  }
  put(heap, timer, at)
}

/** Puts `timer` at `place`, or as far below as it belongs. */
function sink(heap: Timer[], timer: Timer, place: number): void {
  const { length } = heap
  let at = place
  for (;;) {
    let below = 2 * at + 1
    if (below >= length) break
    if (below + 1 < length && isBefore(heap[below + 1] as Timer, heap[below] as Timer)) below += 1
    const child = heap[below] as Timer
    if (isBefore(timer, child)) break
    put(heap, child, at)
    at = below
  }
  put(heap, timer, at)
}
