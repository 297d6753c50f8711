/** Captures what a guest writes to its console: bounded in bytes, with what did not fit counted. */
import type { LogEntry, LogLevel } from '../machine/turn.ts'

/** Characters of one line; longer ones are cut and say so. */
const MOST_LINE = 16_384
/** What a line costs beside its text: empty ones are not free. */
const ENTRY_BYTES = 16
/** Groups within groups by which lines are indented. */
const MOST_INDENT = 32
const NONE: readonly LogEntry[] = []

/** What was written so far, without the lines. */
export interface ConsoleLogState {
  readonly bytes: number
  readonly dropped: number
  /** Groups that are open. */
  readonly indent: number
}

export class ConsoleLog {
  readonly #limit: number
  #bytes = 0
  #dropped = 0
  #indent = 0
  #entries: LogEntry[] = []

  /** @param state of an earlier life of the guest */
  constructor(limitBytes: number, state: ConsoleLogState = { bytes: 0, dropped: 0, indent: 0 }) {
    this.#limit = limitBytes
    this.#bytes = state.bytes
    this.#dropped = state.dropped
    this.indent(state.indent)
  }

  /** Between turns, when its entries were taken. */
  state(): ConsoleLogState {
    return { bytes: this.#bytes, dropped: this.#dropped, indent: this.#indent }
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

  /** Opens `groups`, or closes as many where it is negative: what follows is indented by two spaces for each. */
  indent(groups: number): void {
    this.#indent = Math.min(MOST_INDENT, Math.max(0, this.#indent + groups))
  }

  write(level: LogLevel, line: string, atMs: number): void {
    const text = this.#indent === 0 ? line : this.#indented(line)
    const room = Math.min(MOST_LINE, this.#limit - this.#bytes)
    const kept =
      text.length <= room ? text : `${text.slice(0, room)}… (${text.length - room} more characters)`
    this.#bytes += ENTRY_BYTES + Math.min(text.length, room)
    this.#entries.push({ level, text: kept, atMs })
  }

  #indented(text: string): string {
    const margin = '  '.repeat(this.#indent)
    return margin + text.slice(0, MOST_LINE).replaceAll('\n', `\n${margin}`) + text.slice(MOST_LINE)
  }

  take(): readonly LogEntry[] {
    const entries = this.#entries
    if (entries.length === 0) return NONE
    this.#entries = []
    return entries
  }
}
