/** How what a guest imports is granted, as the command line says it. */
import { type GrantWays, inWays } from '../../component/missing-imports.ts'
import type { GuestOutcome } from '../../runtime/guest-runs.ts'

const CLI_WAYS: GrantWays = {
  grant: ' (--tools MODULE, with --grant NAME where it is one of many)',
  also: { module: '', component: '' },
}

/** A message of the library in words of the command line. */
export function grantWords(message: string): string {
  return inWays(message, CLI_WAYS)
}

export function withGrantWords(outcome: GuestOutcome): GuestOutcome {
  if (outcome.status !== 'failed' || outcome.error.code !== 'missing_imports') return outcome
  return { ...outcome, error: { ...outcome.error, message: grantWords(outcome.error.message) } }
}
