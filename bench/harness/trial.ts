/**
 * What the harness can time: one subject doing one case.
 *
 * 1. Only `run` is timed. `before` and `after` stand around every `run`, for what must not count.
 * 2. `run` checks what it computed and throws when it is wrong: a wrong answer has no speed.
 */

/** A subject, ready to do a case again and again. */
export interface Trial {
  /** How many operations one `run` does; times are given per operation. At least 1. */
  readonly operations: number
  readonly before?: () => void | Promise<void>
  /**
   * The timed part. Where the cost lies inside a longer act (calls inside a run that starts a thread first),
   * it returns its own nanoseconds instead of being timed from outside. A case with a unit other than time
   * returns its quantity.
   */
  readonly run: () => number | undefined | Promise<number | undefined>
  readonly after?: () => void | Promise<void>
  /** Gives back what the trial holds. */
  readonly dispose?: () => void | Promise<void>
}

/** Why a subject does not take part in a case, in words for the report. */
export interface Unable {
  readonly unable: string
}

/** How a subject does what a case asks, or why it cannot. */
export type Ability<Make> = Make | Unable

export function isUnable(ability: unknown): ability is Unable {
  return typeof ability === 'object' && ability !== null && 'unable' in ability
}

/** A trial that computes a value and lets `check` (which throws) accept or refuse it, inside the timed part. */
export function checkedTrial(
  operations: number,
  compute: () => unknown,
  check: (value: unknown) => void,
): Trial {
  return {
    operations,
    run: () => {
      const value = compute()
      if (!(value instanceof Promise)) {
        check(value)
        return undefined
      }
      return value.then((settled) => {
        check(settled)
        return undefined
      })
    },
  }
}

/** A trial that times how long opening something takes; closing it does not count. */
export function openingTrial<Opened>(
  open: () => Opened | Promise<Opened>,
  close: (opened: Opened) => void | Promise<void>,
): Trial {
  let current: { readonly opened: Opened } | undefined
  const keep = (opened: Opened): undefined => {
    current = { opened }
    return undefined
  }
  return {
    operations: 1,
    run: () => {
      const opened = open()
      return opened instanceof Promise ? opened.then(keep) : keep(opened)
    },
    after: () => {
      const { opened } = current ?? {}
      current = undefined
      return opened === undefined ? undefined : close(opened)
    },
  }
}
