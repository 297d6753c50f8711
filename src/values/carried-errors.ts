/**
 * What structured clones lose of errors, carried beside them: a name that is not one of the language's, and on
 * some runtimes the cause.
 *
 * Invariants
 * 1. List and values must travel in one message: a clone keeps which objects are the same, and so the list
 *    leads to the clones of the errors themselves.
 * 2. Only plain copies are walked (`copyValue`, or what a bridge read): nothing of theirs runs.
 */
import { setCause, setName } from './error-value.ts'

/** An error inside a value that travels by structured clone. */
export interface CarriedError {
  readonly error: Error
  /** Its own name, where the class of the error does not give it. */
  readonly name: string | undefined
  readonly hasCause: boolean
  readonly cause: unknown
}

/** The errors inside `values`, each once. */
export function carriedErrors(values: Iterable<unknown>): readonly CarriedError[] {
  const found: CarriedError[] = []
  const met = new Set<object>()
  const open: unknown[] = [...values]
  const addAll = (parts: Iterable<unknown>): void => {
    for (const part of parts) if (typeof part === 'object' && part !== null) open.push(part)
  }
  while (open.length > 0) {
    const value = open.pop()
    if (typeof value !== 'object' || value === null || met.has(value)) continue
    if (ArrayBuffer.isView(value) || value instanceof String) continue
    met.add(value)
    if (value instanceof Map) {
      addAll(value.keys())
      addAll(value.values())
    } else if (value instanceof Set) addAll(value)
    else if (value instanceof Error) {
      const name: unknown = Object.getOwnPropertyDescriptor(value, 'name')?.value
      const { cause } = value
      found.push({
        error: value,
        name: typeof name === 'string' ? name : undefined,
        hasCause: Object.hasOwn(value, 'cause'),
        cause,
      })
      addAll([cause])
    } else addAll(Object.values(value))
  }
  return found
}

/** Gives the clones of errors back what their clones lost. */
export function restoreErrors(carried: readonly CarriedError[]): void {
  for (const { error, name, hasCause, cause } of carried) {
    if (name !== undefined) setName(error, name)
    if (hasCause) setCause(error, cause)
  }
}
