/** One attempt at the effect: the implementation gets a copy of the final arguments, a signal and a time. */
import type { CallDecision, GuestLife, InvokeContext } from '../capability.ts'
import { lifeOf } from '../guest-life.ts'
import type { Stop } from '../stop.ts'
import type { FinalValue } from './final-value.ts'
import { isThenable } from './is-thenable.ts'
import type { Passage } from './passage.ts'
import { type Settled, settled } from './settled.ts'

/** Never throws and never rejects. Answers at once where the implementation does. */
export function attempt(
  passage: Passage,
  final: FinalValue,
  idempotencyKey: string,
  number: number,
  stop: Stop,
  decisions: InvokeContext['decisions'],
): Settled | Promise<Settled> {
  const { capability } = passage
  try {
    if (capability.sync === true) {
      const { invoke } = capability
      return { end: 'value', value: invoke(final.copy()) }
    }
    const context = new AttemptContext(idempotencyKey, number, stop, decisions)
    // Through a local, so that the implementation gets no `this`.
    const { invoke } = capability
    const returned: unknown = invoke(final.copy(), context)
    if (!isThenable(returned)) return { end: 'value', value: returned }
    return settled(returned, stop, passage.timeoutMs, () => context.giveUp())
  } catch (error) {
    return { end: 'error', error }
  }
}

/** What an implementation is told. A class, because an object literal with a getter costs microseconds. */
class AttemptContext implements InvokeContext {
  readonly idempotencyKey: string
  readonly attempt: number
  readonly #stop: Stop
  readonly #decisions: InvokeContext['decisions']
  /** Most implementations of most calls never look at the signal: it is made when they do. */
  #controller: AbortController | undefined

  constructor(idempotencyKey: string, attempt: number, stop: Stop, decisions: InvokeContext['decisions']) {
    this.idempotencyKey = idempotencyKey
    this.attempt = attempt
    this.#stop = stop
    this.#decisions = decisions
  }

  decisions(): Promise<readonly CallDecision[]> {
    return this.#decisions()
  }

  get life(): GuestLife {
    return lifeOf(this.#stop)
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    return this.#controller.signal
  }

  /** Aborts the signal, also one that is asked for only afterwards. */
  giveUp(): void {
    this.#controller ??= new AbortController()
    this.#controller.abort(new DOMException('The call was given up.', 'AbortError'))
  }
}
