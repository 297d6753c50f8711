/**
 * Answers the sync calls of turns that are taken again from the record of the run, and later ones by the gate, where
 * there are to be later ones.
 */
import { type GuestCapability, Refusal, type SyncCalls } from '../../capability/call.ts'
import type { Gate } from '../../capability/gate.ts'
import type { SyncCallRecord } from '../../ports/call-log.ts'

export class SyncReplay implements SyncCalls {
  readonly #records: readonly SyncCallRecord[]
  readonly #capabilities: readonly GuestCapability[]
  readonly #live: Pick<Gate, 'sync'> | undefined
  /** From the machine's indexes to the gate's. */
  readonly #liveIndex: readonly number[]
  #next = 0
  /** Whether the guest asked for something else than the record says. */
  diverged = false
  /** Number of the turn that is taken again, from 0 for the first one of all. */
  turn = 0
  /** The turn in which the guest asked for more than the record knows, where nobody else answers. */
  ranOutIn: number | undefined

  /**
   * @param capabilities in the order in which the machine numbers them
   * @param live left out: what the record does not answer is something else than it says
   */
  constructor(
    records: readonly SyncCallRecord[],
    capabilities: readonly GuestCapability[],
    live: Pick<Gate, 'sync' | 'capabilities'> | undefined,
  ) {
    this.#records = records
    this.#capabilities = capabilities
    this.#live = live
    this.#liveIndex = capabilities.map(
      ({ name }) => live?.capabilities.findIndex((one) => one.name === name) ?? -1,
    )
  }

  /** Whether the record has calls that the guest did not make. */
  get unasked(): boolean {
    return this.#next < this.#records.length
  }

  call(index: number, args: unknown, bytes: number): unknown {
    const record = this.#records[this.#next]
    if (record === undefined && this.#live !== undefined) {
      return this.#live.sync.call(this.#liveIndex[index] ?? -1, args, bytes)
    }
    if (record === undefined) this.ranOutIn ??= this.turn
    this.#next += 1
    if (record === undefined || record.capability !== this.#capabilities[index]?.name) {
      this.diverged = true
      return new Refusal({ code: 'diverged', message: 'The record of the run says something else.' })
    }
    if (record.ok) return record.value
    const { capability: _, args: __, ok: ___, ...failure } = record
    return new Refusal(failure)
  }
}
