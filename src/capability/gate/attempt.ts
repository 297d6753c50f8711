/** One attempt at the effect: the implementation gets a copy of the final arguments, a signal and a time. */
import type { InvokeContext } from '../capability.ts'
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
): Settled | Promise<Settled> {
  const { capability } = passage
  try {
    if (capability.sync === true) {
      const { invoke } = capability
      return { end: 'value', value: invoke(final.copy()) }
    }
    // Most implementations of most calls never look at the signal: it is made when they do.
    let controller: AbortController | undefined
    const context: InvokeContext = {
      idempotencyKey,
      attempt: number,
      get signal() {
        controller ??= new AbortController()
        return controller.signal
      },
    }
    // Through a local, so that the implementation gets no `this`.
    const { invoke } = capability
    const returned: unknown = invoke(final.copy(), context)
    if (!isThenable(returned)) return { end: 'value', value: returned }
    return settled(returned, stop, passage.timeoutMs, () => {
      // Also for a signal that is asked for only afterwards.
      controller ??= new AbortController()
      controller.abort(new DOMException('The call was given up.', 'AbortError'))
    })
  } catch (error) {
    return { end: 'error', error }
  }
}
