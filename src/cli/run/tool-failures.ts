/**
 * Why capabilities of `--tools` failed, for the person who wrote them. The program is told a code and nothing else.
 *
 * Invariants
 * 1. What the tool chose to expose is not repeated: the program was told, and may have handled it.
 * 2. At most `MOST_FAILURES` are kept, as text. More are counted.
 */
import { CaissonError } from '../../base/errors.ts'
import { escapeText } from '../../base/escape-text.ts'
import type { CapabilityFailure } from '../../capability/gate/gate-parts.ts'
import { causeText } from '../render/cause-text.ts'
import type { Style } from '../render/style.ts'

const MOST_FAILURES = 20

export class ToolFailures {
  readonly #tools: ReadonlySet<string>
  readonly #ownFolders: readonly string[]
  readonly #kept: { readonly head: string; readonly lines: readonly string[] }[] = []
  #dropped = 0

  /** @param ownFolders as `causeText` takes them */
  constructor(tools: readonly string[], ownFolders: readonly string[]) {
    this.#tools = new Set(tools)
    this.#ownFolders = ownFolders
  }

  add({ capability, callId, code, cause }: CapabilityFailure): void {
    if (!this.#tools.has(capability) || wasExposed(code, cause)) return
    if (this.#kept.length === MOST_FAILURES) {
      this.#dropped += 1
      return
    }
    const call = callId === 0 ? 'a sync call' : `call ${callId}`
    this.#kept.push({
      head: `${escapeText(capability)} failed (${call}, the program was told ${code}):`,
      lines: causeText(cause, this.#ownFolders),
    })
  }

  /** Lines for stderr. Only the first of each failure begins a line, and it names the tool. */
  text(style: Style): string {
    const shown = this.#kept.map(
      ({ head, lines }) =>
        `${style.yellow('tool:')} ${head}\n${lines.map((line) => `      ${line.replaceAll('\n', '\n      ')}\n`).join('')}`,
    )
    const rest = this.#dropped > 0 ? `${style.yellow('tool:')} ${this.#dropped} more failures\n` : ''
    return shown.join('') + rest
  }
}

/** By `expose`, with its message. A timeout has the same code and is said: it was not the tool that told. */
function wasExposed(code: string, cause: unknown): boolean {
  return code !== 'timeout' && CaissonError.is(cause) && cause.code === code
}
