/**
 * Takes the calls of a guest to the gate: a number of them at once, the others in line, in order.
 *
 * Invariants
 * 1. Calls start in the order in which they were asked, at most `places` at once.
 * 2. Answers are kept in order of arrival until they are taken.
 * 3. A call that a person has to decide over, and has not, keeps its place: so many are asked for at once, and no more.
 * 4. After the stop nothing starts, and what arrives is dropped.
 */
import type { AskedRequest } from '../capability/approvals.ts'
import type { Delivery } from '../capability/delivery.ts'
import type { Gate, RecordedCall } from '../capability/gate.ts'
import type { Stop } from '../capability/stop.ts'
import type { PendingCall } from './turn.ts'

const NONE: ReadonlyMap<number, RecordedCall> = new Map()

export class CallDesk {
  readonly #gate: Gate
  readonly #stop: Stop
  readonly #places: number
  readonly #recorded: ReadonlyMap<number, RecordedCall>
  /** Told whenever it changes whether only people are waited for. */
  readonly #onWaiting: (onlyForPeople: boolean) => void
  #line: PendingCall[] = []
  #started = 0
  #arrived: Delivery[] = []
  #atGate = 0
  #approving = 0
  /** What people are asked, by the ids of the calls. */
  readonly #asked = new Map<number, AskedRequest>()
  #closed = false
  #wake: (() => void) | undefined

  /** @param recorded calls that were issued in an earlier life of the guest, by the host's record */
  constructor(
    gate: Gate,
    stop: Stop,
    places: number,
    onWaiting: (onlyForPeople: boolean) => void,
    recorded: ReadonlyMap<number, RecordedCall> = NONE,
  ) {
    this.#recorded = recorded
    this.#gate = gate
    this.#stop = stop
    this.#places = places
    this.#onWaiting = onWaiting
    stop.onStop(() => this.#wakeUp())
  }

  /** Whether any call is at the gate. */
  get busy(): boolean {
    return this.#atGate > 0
  }

  /** Whether a capability works for the guest, or an answer is there. */
  get working(): boolean {
    return this.#arrived.length > 0 || this.#approving < this.#atGate
  }

  /** Whether an answer is there or will come. */
  get expecting(): boolean {
    if (this.#atGate > 0 || this.#arrived.length > 0) return true
    return this.#started < this.#line.length && this.#asked.size < this.#places
  }

  /** What people are asked before calls of the guest are made, by the ids of those. */
  get asked(): ReadonlyMap<number, AskedRequest> {
    return this.#asked
  }

  add(calls: readonly PendingCall[]): void {
    for (const call of calls) this.#line.push(call)
    this.#startWaiting()
  }

  /** Takes answers that are known already. */
  addArrived(deliveries: readonly Delivery[]): void {
    this.#arrived.push(...deliveries)
  }

  /** Starts no further call; those at the gate go on. */
  close(): void {
    this.#closed = true
  }

  /** Resolves when an answer is there, when a person is asked and nothing else is expected, or when stopped. */
  arrival(): Promise<void> {
    if (this.#arrived.length > 0 || this.#stop.stopped) return Promise.resolve()
    return this.#nextChange()
  }

  /** Resolves when no call is at the gate any more, or when stopped. */
  async quiet(): Promise<void> {
    while (this.#atGate > 0 && !this.#stop.stopped) await this.#nextChange()
  }

  /** The answers since the last time, in order of arrival. */
  takeArrived(): readonly Delivery[] {
    const arrived = this.#arrived
    this.#arrived = []
    return arrived
  }

  #startWaiting(): void {
    while (this.#atGate + this.#asked.size < this.#places && !this.#closed && !this.#stop.stopped) {
      const call = this.#line[this.#started]
      if (call === undefined) break
      this.#started += 1
      this.#start(call)
    }
    if (this.#started > 1_000 || this.#started === this.#line.length) {
      this.#line = this.#line.slice(this.#started)
      this.#started = 0
    }
  }

  #start(call: PendingCall): void {
    this.#atGate += 1
    this.#tellWaiting()
    const arrive = (delivery: Delivery): void => {
      this.#atGate -= 1
      if (this.#stop.stopped) return
      if (delivery.asked === undefined) this.#arrived.push(delivery)
      else this.#asked.set(call.id, delivery.asked)
      this.#startWaiting()
      this.#tellWaiting()
      if (delivery.asked === undefined || !this.expecting || this.#closed) this.#wakeUp()
    }
    // Neither ever rejects (gate, invariant 4).
    const recorded = this.#recorded.get(call.id)
    const answer =
      recorded === undefined
        ? this.#gate.call(call, this.#stop, this.#watcher)
        : this.#gate.callAgain(call, recorded, this.#stop, this.#watcher)
    void answer.then(arrive)
  }

  readonly #watcher = {
    approvalBegins: (): void => {
      this.#approving += 1
      this.#tellWaiting()
    },
    approvalEnds: (): void => {
      this.#approving -= 1
      this.#tellWaiting()
    },
  }

  #tellWaiting(): void {
    this.#onWaiting(this.#approving > 0 && this.#approving === this.#atGate && this.#arrived.length === 0)
  }

  #nextChange(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }

  #wakeUp(): void {
    this.#wake?.()
    this.#wake = undefined
  }
}
