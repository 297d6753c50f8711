/** An attempt of a program, as what is executed again. */
import type { Digest } from '../../../base/digest.ts'
import type { GuestWork } from '../../../graph/run/node-work.ts'
import type { Failure, Ran, ValueRef } from '../../../graph/run/run-event.ts'
import { type Difference, type DifferenceOf, Differs } from './difference.ts'

/** One attempt of a program, as the journal has it. */
export interface Attempt {
  /** Of its node; with `#undo` at its end for what undoes it. */
  readonly path: string
  readonly node: GuestWork
  readonly attempt: number
  /** The time in the guest when it began. */
  readonly atMs: number
  readonly input: ValueRef
  /** Number of the event that ended it. */
  readonly position: number
  readonly ran: Ran
  readonly fuel: number
  readonly ended:
    | { readonly ok: true; readonly output: Digest | undefined }
    | { readonly ok: false; readonly error: Failure }
}

/** Why it cannot be done again as it was. */
export function differs(
  of: DifferenceOf,
  { path, position }: Pick<Attempt, 'path' | 'position'>,
  why: string,
  more: Partial<Difference> = {},
): Differs {
  const message = `Entry ${position}: the program of node "${path.slice(0, 200)}" cannot be done again. ${why}`
  return new Differs({ of, position, node: path, ...more, message })
}
