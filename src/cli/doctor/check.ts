/** One line of `caisson doctor`. */

export interface Check {
  readonly name: string
  /** `warn`: something is slower or missing and programs still run. `fail`: they do not, or must not be trusted. */
  readonly status: 'ok' | 'warn' | 'fail'
  /** What was found. */
  readonly detail: string
  /** What to do about it; undefined when nothing needs doing. */
  readonly fix?: string
}

/** The worst status of all. */
export function worstOf(checks: readonly Check[]): Check['status'] {
  if (checks.some(({ status }) => status === 'fail')) return 'fail'
  return checks.some(({ status }) => status === 'warn') ? 'warn' : 'ok'
}
