/**
 * The end of a guest at a limit: one sentence with the number, its unit and the name of the setting, the same
 * wherever the limit was noticed: in the engine, by the host between two turns, or in a Worker.
 */
import { showCount } from '../base/show-count.ts'
import type { LimitName, Limits } from './limits.ts'

export interface Exhausted {
  readonly status: 'exhausted'
  readonly limit: LimitName
  readonly message: string
}

/** @param way which of the two settings was reached where `limit` is `bytes` */
export function exhausted(limit: LimitName, limits: Limits, way: 'bytesIn' | 'bytesOut'): Exhausted
export function exhausted(limit: Exclude<LimitName, 'bytes'>, limits: Limits): Exhausted
export function exhausted(
  limit: LimitName,
  limits: Limits,
  way: 'bytesIn' | 'bytesOut' = 'bytesOut',
): Exhausted {
  return { status: 'exhausted', limit, message: messageOf(limit, limits, way) }
}

function messageOf(limit: LimitName, limits: Limits, way: 'bytesIn' | 'bytesOut'): string {
  switch (limit) {
    case 'fuel':
      return `The guest used up its fuel of ${showCount(limits.fuel)} units (limit fuel).`
    case 'memory':
      return `The guest asked for more memory than its ${size(limits.memoryBytes)} (limit memoryBytes).`
    case 'stack':
      return `The guest recursed deeper than its ${size(limits.stackBytes)} of stack (limit stackBytes).`
    case 'wall':
      return `The guest was active for all of its ${showCount(limits.wallMs)} ms (limit wallMs).`
    case 'idle':
      return `The guest only waited, for people or timers, for all of its ${showCount(limits.idleMs)} ms (limit idleMs).`
    case 'calls':
      return `The guest asked for more than its ${counted(limits.calls, 'call')} (limit calls).`
    case 'bytes': {
      const direction = way === 'bytesIn' ? 'into' : 'out of'
      return `More than ${size(limits[way])} would have gone ${direction} the guest (limit ${way}).`
    }
    case 'timers':
      return `The guest armed timers more than its ${counted(limits.timers, 'time')}, each repetition of an interval included (limit timers).`
  }
}

function counted(count: number, what: string): string {
  return `${showCount(count)} ${what}${count === 1 ? '' : 's'}`
}

/** Whole KiB or MiB, else bytes: a limit is never shown rounded. */
function size(bytes: number): string {
  const KiB = 1024
  const MiB = 1024 * KiB
  if (bytes > 0 && bytes % MiB === 0) return `${showCount(bytes / MiB)} MiB`
  if (bytes > 0 && bytes % KiB === 0) return `${showCount(bytes / KiB)} KiB`
  return `${showCount(bytes)} bytes`
}
