/** Captures what a guest writes to its console: bounded in bytes, with what did not fit counted. */
import type { LogEntry, LogLevel } from '../machine/turn.ts'

/** Characters of one line; longer ones are cut and say so. */
const MOST_LINE = 16_384
/** What a line costs beside its text: empty ones are not free. */
const ENTRY_BYTES = 16
const NONE: readonly LogEntry[] = []

/** What was written so far, without the lines. */
export interface ConsoleLogState {
  readonly bytes: number
  readonly dropped: number
}

export class ConsoleLog {
  readonly #limit: number
  #bytes = 0
  #dropped = 0
  #entries: LogEntry[] = []

  /** @param state of an earlier life of the guest */
  constructor(limitBytes: number, state: ConsoleLogState = { bytes: 0, dropped: 0 }) {
    this.#limit = limitBytes
    this.#bytes = state.bytes
    this.#dropped = state.dropped
  }

  /** Between turns, when its entries were taken. */
  state(): ConsoleLogState {
    return { bytes: this.#bytes, dropped: this.#dropped }
  }

  get dropped(): number {
    return this.#dropped
  }

  /** Whether another line can be kept: ask before formatting one. */
  get hasRoom(): boolean {
    return this.#bytes < this.#limit
  }

  drop(): void {
    this.#dropped += 1
  }

  write(level: LogLevel, text: string, atMs: number): void {
    const room = Math.min(MOST_LINE, this.#limit - this.#bytes)
    const kept =
      text.length <= room ? text : `${text.slice(0, room)}… (${text.length - room} more characters)`
    this.#bytes += ENTRY_BYTES + Math.min(text.length, room)
    this.#entries.push({ level, text: kept, atMs })
  }

  take(): readonly LogEntry[] {
    const entries = this.#entries
    if (entries.length === 0) return NONE
    this.#entries = []
    return entries
  }
}
