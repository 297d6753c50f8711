/**
 * Stage: the result is copied within bounds, validated, and copied again if a schema changed it. Everything
 * after this reads plain data: no getter, proxy or thenable of the implementation is touched again.
 */
import { CaissonError, type ErrorCode } from '../../base/errors.ts'
import { copyMeasured, type ValueCopy } from '../../values/copy-value.ts'
import { Refusal } from '../call.ts'
import type { Stop } from '../stop.ts'
import { expandsBeyond } from './expanded-size.ts'
import type { GateParts } from './gate-parts.ts'
import type { Passage } from './passage.ts'
import { refuse } from './refuse.ts'
import { readVerdict, runSchema, type Verdict } from './run-schema.ts'
import { settled } from './settled.ts'

/** The result as plain data, or why the guest cannot have it. A promise only where the schema is asynchronous. */
export function checkResult(
  passage: Passage,
  result: unknown,
  callId: number,
  parts: GateParts,
  stop: Stop,
): ValueCopy<unknown> | Refusal | Promise<ValueCopy<unknown> | Refusal> {
  const verdict = applyOutputSchema(passage, result, callId, parts)
  if (verdict instanceof Refusal || 'bytes' in verdict) return verdict
  if ('valid' in verdict) return finish(passage, verdict, callId, parts)
  return settled(verdict, stop, passage.timeoutMs).then((ended) => {
    if (ended.end === 'stopped') return refuse('aborted', 'The run was stopped.')
    const late: Verdict =
      ended.end === 'value'
        ? readVerdict(ended.value)
        : {
            valid: false,
            issues: '',
            cause: ended.end === 'error' ? ended.error : 'The output schema took too long.',
          }
    return finish(passage, late, callId, parts)
  })
}

/** As `checkResult`, inside a turn: a schema that wants to be awaited is refused. */
export function checkResultNow(
  passage: Passage,
  result: unknown,
  parts: GateParts,
): ValueCopy<unknown> | Refusal {
  const verdict = applyOutputSchema(passage, result, 0, parts)
  if (verdict instanceof Refusal || 'bytes' in verdict) return verdict
  if ('valid' in verdict) return finish(passage, verdict, 0, parts)
  verdict.then(undefined, () => {})
  return invalid(passage, 0, parts, `The output schema of sync "${passage.name}" is asynchronous.`)
}

function applyOutputSchema(
  passage: Passage,
  result: unknown,
  callId: number,
  parts: GateParts,
): ValueCopy<unknown> | Verdict | PromiseLike<unknown> | Refusal {
  const { output } = passage.capability
  const copied = copyResult(passage, result, callId, parts)
  if (copied instanceof Refusal || output === undefined) return copied
  if (expandsBeyond(copied.value, parts.validatedNodes)) {
    const message = `The result of "${passage.name}" has too many nodes to be validated.`
    parts.report({ callId, capability: passage.name, code: 'result_too_large', cause: message })
    return refuse('result_too_large', message)
  }
  return runSchema(output, copied.value)
}

function finish(
  passage: Passage,
  verdict: Verdict,
  callId: number,
  parts: GateParts,
): ValueCopy<unknown> | Refusal {
  if (!verdict.valid) return invalid(passage, callId, parts, verdict.cause ?? verdict.issues)
  return copyResult(passage, verdict.value, callId, parts)
}

function copyResult(
  passage: Passage,
  result: unknown,
  callId: number,
  parts: GateParts,
): ValueCopy<unknown> | Refusal {
  try {
    // Frozen where it is also recorded: log and guest are given the same value.
    return copyMeasured(result, parts.resultLimits, 'result', parts.callLog !== undefined)
  } catch (error) {
    const [code, message] = complaint(error, passage)
    parts.report({ callId, capability: passage.name, code, cause: error })
    return refuse(code, message)
  }
}

/** What the guest is told of a result that cannot be copied. Its size is no secret, what it holds may be. */
function complaint(error: unknown, { name }: Passage): readonly [ErrorCode, string] {
  if (CaissonError.is(error, 'value_too_large')) {
    return ['result_too_large', `The result of "${name}" is too large. ${error.message}`]
  }
  if (CaissonError.is(error, 'value_too_deep')) return ['value_too_deep', error.message]
  return ['value_refused', `The result of "${name}" cannot be given to a guest.`]
}

/** What a result should have looked like is the host's affair: the guest is told only that it did not. */
function invalid(passage: Passage, callId: number, parts: GateParts, cause: unknown): Refusal {
  parts.report({ callId, capability: passage.name, code: 'invalid_result', cause })
  return refuse('invalid_result', `"${passage.name}" gave a result that does not match its output schema.`)
}
