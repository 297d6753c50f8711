/**
 * Before an answer that the embedder gives by hand is taken: would it do as a result of the capability? A wrong one
 * is the embedder's mistake and not the capability's, so the embedder hears of it, and nothing else happens: nothing
 * is counted, recorded or reported, and the guest goes on waiting.
 */
import { CaissonError, type ErrorCode } from '../../base/errors.ts'
import { Refusal } from '../call.ts'
import type { Stop } from '../stop.ts'
import { checkResult } from './check-result.ts'
import type { GateParts } from './gate-parts.ts'
import type { Passage } from './passage.ts'

/**
 * What is wrong with `value`: `invalid_result`, `result_too_large`, `value_refused` or `value_too_deep`. Undefined for
 * nothing, and once the run was stopped. Never rejects.
 */
export async function checkAnswer(
  passage: Passage,
  value: unknown,
  callId: number,
  parts: GateParts,
  stop: Stop,
): Promise<CaissonError | undefined> {
  let cause: unknown
  const quiet: GateParts = {
    ...parts,
    report: (failure) => {
      cause = failure.cause
    },
  }
  const checking = checkResult(passage, value, callId, quiet, stop)
  const result = checking instanceof Promise ? await checking : checking
  if (!(result instanceof Refusal) || result.failure.code === 'aborted') return undefined
  const code = result.failure.code as ErrorCode // `refuse` takes no others
  const { name } = passage
  return new CaissonError(code, `This value cannot answer call ${callId} of "${name}": ${reasonOf(cause)}`, {
    details: { id: callId, capability: name },
    ...(cause instanceof Error && { cause }),
  })
}

/** The issues of a schema are bounded where they are read; what a schema or a getter threw is only named. */
function reasonOf(cause: unknown): string {
  if (typeof cause === 'string') return `it does not match the output schema (${cause}).`
  if (CaissonError.is(cause)) return cause.message
  return 'it could not be checked; see the cause.'
}
