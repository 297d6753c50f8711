/**
 * What one call may lift out of a guest or lower into it. A memory of a megabyte can describe lists that name the same
 * bytes a million times: it is counted before it is copied.
 */
import { CaissonError } from '../../base/errors.ts'
import type { ValueLimits } from '../../values/limits.ts'

export class ValueBudget {
  readonly #limits: Pick<ValueLimits, 'bytes' | 'nodes'>
  bytes = 0
  nodes = 0

  constructor(limits: Pick<ValueLimits, 'bytes' | 'nodes'>) {
    this.#limits = limits
  }

  /** For the next call. */
  reset(): void {
    this.bytes = 0
    this.nodes = 0
  }

  /** Before `nodes` places with together `bytes` are made. @throws CaissonError `value_too_large` */
  take(nodes: number, bytes: number): void {
    this.nodes += nodes
    this.bytes += bytes
    const limits = this.#limits
    if (this.nodes > limits.nodes || this.bytes > limits.bytes) {
      throw new CaissonError(
        'value_too_large',
        `What crosses the border in one call takes more than ${limits.bytes} bytes or ${limits.nodes} values.`,
      )
    }
  }
}
