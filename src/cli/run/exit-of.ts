/** The exit code of a run. */
import type { Outcome } from '../../runtime/outcome.ts'
import { EXIT, type ExitCode } from '../exit-code.ts'
import { failureCode } from '../failure-code.ts'

/** Codes of refused calls: a program that let one through was denied something, rather than wrong. */
const DENIALS: ReadonlySet<string> = new Set([
  'not_granted',
  'revoked',
  'denied',
  'approval_rejected',
  'path_denied',
  'network_denied',
  'budget_exhausted',
  'rate_limited',
])

/** The record, the engine or another process say otherwise: nothing goes on from here. */
const REFUSED: ReadonlySet<string> = new Set(['corrupted', 'diverged', 'lease_lost'])

/** A program can throw errors with any code, and so choose between 3, 5 and 7; never 0. */
export function exitOf(outcome: Outcome): ExitCode {
  switch (outcome.status) {
    case 'completed':
      return EXIT.done
    case 'exhausted':
      return EXIT.exhausted
    case 'suspended':
      return EXIT.waiting
    case 'failed': {
      const code = failureCode(outcome.error)
      if (REFUSED.has(outcome.error.code ?? '')) return EXIT.refusedInput
      return code !== undefined && DENIALS.has(code) ? EXIT.denied : EXIT.failed
    }
  }
}
