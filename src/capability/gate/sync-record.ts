/**
 * The sync calls of one turn, in columns: on the path of a call three pushes and no object. They become
 * records when the turn has ended.
 */
import type { SyncCallRecord } from '../../ports/call-log.ts'
import { Refusal } from '../call.ts'
import { FinalValue } from './final-value.ts'

/** Calls that one turn may leave to be recorded; more are refused. */
export const MAX_SYNC_RECORDS = 1_000_000

export class SyncRecord {
  readonly #names: string[] = []
  readonly #args: unknown[] = []
  readonly #results: unknown[] = []

  get full(): boolean {
    return this.#names.length >= MAX_SYNC_RECORDS
  }

  /** `args` is a primitive or a `FinalValue`; `result` what the guest got, a `Refusal` included. */
  add(name: string, args: unknown, result: unknown): void {
    this.#names.push(name)
    this.#args.push(args)
    this.#results.push(result)
  }

  /** What was added since the last time, oldest first. */
  take(): readonly SyncCallRecord[] {
    const records = this.#names.map((capability, i): SyncCallRecord => {
      const given = this.#args[i]
      const args = given instanceof FinalValue ? given.view() : given
      const result = this.#results[i]
      return result instanceof Refusal
        ? { capability, args, ok: false, ...result.failure }
        : { capability, args, ok: true, value: result }
    })
    this.#names.length = 0
    this.#args.length = 0
    this.#results.length = 0
    return records
  }
}
