/**
 * Follows a foreign promise or thenable to the value that it comes to.
 *
 * The language's own way (`await`, `Promise.resolve`) follows a thenable that resolves to another one within
 * microtasks, and without an end if they have none: no timer of the host would ever fire again. Here every further
 * hop waits for a task of its own, so that a timeout or a stop can come between. What an `async` implementation
 * returns is followed by the language before it gets here: nothing can come between there.
 *
 * Invariants
 * 1. Never throws. Whoever calls must take the first answer and leave the others: foreign code may answer twice.
 * 2. Every thenable is asked once. None is asked any more when nobody waits.
 */
import { isThenable } from './is-thenable.ts'

export function follow(
  foreign: PromiseLike<unknown>,
  waiting: () => boolean,
  onValue: (value: unknown) => void,
  onError: (error: unknown) => void,
): void {
  const hop = (thenable: PromiseLike<unknown>): void => {
    let answered = false
    const fulfilled = (value: unknown): void => {
      if (answered) return
      answered = true
      try {
        if (isThenable(value)) setTimeout(() => next(value), 0)
        else onValue(value)
      } catch (error) {
        onError(error)
      }
    }
    const rejected = (error: unknown): void => {
      if (answered) return
      answered = true
      onError(error)
    }
    try {
      const chained: unknown = thenable.then(fulfilled, rejected)
      // An `async then` that fails rejects what it returns, which nobody else would handle.
      if (chained instanceof Promise && !(thenable instanceof Promise)) chained.then(undefined, rejected)
    } catch (error) {
      rejected(error)
    }
  }
  const next = (thenable: PromiseLike<unknown>): void => {
    if (waiting()) hop(thenable)
  }
  hop(foreign)
}
