/** Keeps console lines up to a number of bytes and counts those that do not fit. */
import type { LogEntry } from './turn.ts'

/** What a line costs beside its text, so that empty lines are not free. */
const ENTRY_BYTES = 16

export class LogKeeper {
  readonly entries: LogEntry[] = []
  /** Lines that did not fit. */
  dropped = 0
  readonly #maxBytes: number
  #bytes = 0

  /**
   * @param maxBytes UTF-8 bytes of text, plus 16 for each line
   * @param earlier lines of an earlier life, which count
   */
  constructor(maxBytes: number, earlier: readonly LogEntry[] = []) {
    this.#maxBytes = maxBytes
    this.add(earlier)
  }

  /** Keeps what fits. After the first line that does not, no later one is kept: a log has no holes. */
  add(lines: readonly LogEntry[]): void {
    for (const line of lines) {
      const bytes = ENTRY_BYTES + utf8Bytes(line.text)
      if (this.dropped > 0 || this.#bytes + bytes > this.#maxBytes) {
        this.dropped += 1
      } else {
        this.#bytes += bytes
        this.entries.push(line)
      }
    }
  }
}

function utf8Bytes(text: string): number {
  let bytes = text.length
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    // A surrogate pair takes 4 bytes for its 2 units, everything else above U+07FF 3 for its one.
    if (unit > 0x7f) bytes += unit > 0x7ff && (unit < 0xd800 || unit > 0xdfff) ? 2 : 1
  }
  return bytes
}
