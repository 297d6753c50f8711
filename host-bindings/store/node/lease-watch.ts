/**
 * Whether a lease that somebody holds may be taken, without any clock that people can set.
 *
 * 1. A holder on this boot of this machine is gone when its process is; otherwise the uptime of the machine says when
 *    its lease runs out.
 * 2. Of any other holder, it is only known that it has not renewed for as long as this process has watched.
 *
 * A holder renews by a beat: a few bytes beside the state of the run, changed each time. It need not be durable, and
 * one that is read half written is a change too.
 */
import { StillnessWatch } from '../stillness-watch.ts'
import type { Machine } from './machine.node.ts'
import type { LeaseRecord } from './run-state.node.ts'

const BEAT = /^([0-9]+) ([0-9]+) [0-9]+ *$/
/** Every beat has as many bytes, so that one replaces another whole. */
const BEAT_BYTES = 64

/** The text of a beat. */
export function formatBeat(uptimeMs: number, ttlMs: number, count: number): string {
  return `${Math.ceil(uptimeMs)} ${Math.ceil(ttlMs)} ${count}`.padEnd(BEAT_BYTES)
}

export class LeaseWatch {
  readonly #machine: Machine
  readonly #stillness = new StillnessWatch()

  constructor(machine: Machine) {
    this.#machine = machine
  }

  /**
   * Looks at a lease that is held.
   * @param beat the newest beat of its holder; undefined before the first
   * @returns 0 when it may be taken now, otherwise in how many milliseconds that may be if nothing changes
   */
  remainingMs(run: string, lease: LeaseRecord, beat: string | undefined): number {
    const nowMs = this.#machine.monotonicMs()
    const unchangedMs = this.#stillness.unchangedMs(run, `${lease.id} ${beat ?? ''}`, nowMs)
    const [, uptime, ttl] = BEAT.exec(beat ?? '') ?? []
    const ttlMs = ttl === undefined ? lease.ttlMs : Number(ttl)
    const watchedMs = ttlMs - unchangedMs
    if (!this.#machine.isThis(lease.machine)) return Math.max(0, watchedMs)
    if (!this.#machine.isAlive(lease.process)) return 0
    const startMs = uptime === undefined ? lease.uptimeMs : Number(uptime)
    const leftMs = startMs + ttlMs + this.#machine.uptimeSlackMs - this.#machine.uptimeMs()
    return Math.max(0, Math.min(watchedMs, leftMs))
  }

  /** The lease was taken or is gone. */
  forget(run: string): void {
    this.#stillness.forget(run)
  }
}
