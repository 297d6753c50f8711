/**
 * Stage: validate once, to the final canonical value. Defaults, coercions and transforms happen here and
 * nowhere later. What the schema is shown is a copy of the pending arguments, so that it cannot change them.
 */
import { CaissonError } from '../../base/errors.ts'
import { copyValue } from '../../values/copy-value.ts'
import { Refusal } from '../call.ts'
import type { Stop } from '../stop.ts'
import { expandsBeyond } from './expanded-size.ts'
import { FinalValue } from './final-value.ts'
import type { GateParts } from './gate-parts.ts'
import type { Passage } from './passage.ts'
import { refuse } from './refuse.ts'
import { readVerdict, runSchema, type Verdict } from './run-schema.ts'
import { settled } from './settled.ts'

/** The final arguments, or why they are refused. A promise only where the schema is asynchronous. */
export function validateInput(
  passage: Passage,
  args: unknown,
  callId: number,
  parts: GateParts,
  stop: Stop,
): FinalValue | Refusal | Promise<FinalValue | Refusal> {
  const verdict = applyInputSchema(passage, args, parts)
  if (verdict instanceof Refusal) return verdict
  if ('valid' in verdict) return finalize(passage, verdict, callId, parts)
  return settled(verdict, stop, passage.timeoutMs).then((ended) => {
    if (ended.end === 'stopped') return refuse('aborted', 'The run was stopped.')
    if (ended.end === 'timeout')
      return refuse('timeout', `Validating the arguments of "${passage.name}" took too long.`)
    return finalize(
      passage,
      ended.end === 'value'
        ? readVerdict(ended.value)
        : { valid: false, issues: 'the schema could not be applied', cause: ended.error },
      callId,
      parts,
    )
  })
}

/** As `validateInput`, inside a turn: a schema that wants to be awaited is refused. */
export function validateInputNow(passage: Passage, args: unknown, parts: GateParts): FinalValue | Refusal {
  const verdict = applyInputSchema(passage, args, parts)
  if (verdict instanceof Refusal) return verdict
  if ('valid' in verdict) return finalize(passage, verdict, 0, parts)
  verdict.then(undefined, () => {}) // its rejection is nobody's business any more
  parts.report({
    callId: 0,
    capability: passage.name,
    code: 'capability_failed',
    cause: new CaissonError(
      'invalid_capability',
      `The input schema of sync "${passage.name}" is asynchronous.`,
    ),
  })
  return refuse(
    'capability_failed',
    `"${passage.name}" cannot be called synchronously: its schema is asynchronous.`,
  )
}

function applyInputSchema(
  passage: Passage,
  args: unknown,
  parts: GateParts,
): Verdict | PromiseLike<unknown> | Refusal {
  const { input } = passage.capability
  if (input === undefined) return { valid: true, value: args }
  try {
    const shown = copyValue(args, parts.argsLimits, 'args')
    if (expandsBeyond(shown, parts.validatedNodes)) {
      return refuse(
        'value_too_large',
        `The arguments have more than ${parts.validatedNodes} nodes, counted as a tree.`,
      )
    }
    return runSchema(input, shown)
  } catch (error) {
    return refuseValue(error)
  }
}

function finalize(
  passage: Passage,
  verdict: Verdict,
  callId: number,
  parts: GateParts,
): FinalValue | Refusal {
  if (!verdict.valid) {
    if (verdict.cause !== undefined) {
      parts.report({ callId, capability: passage.name, code: 'invalid_arguments', cause: verdict.cause })
    }
    return refuse('invalid_arguments', `The arguments of "${passage.name}" are not valid: ${verdict.issues}.`)
  }
  try {
    return new FinalValue(verdict.value, parts.argsLimits)
  } catch (error) {
    return refuseValue(error)
  }
}

function refuseValue(error: unknown): Refusal {
  if (CaissonError.is(error)) return refuse(error.code, error.message)
  return refuse('value_refused', 'The arguments could not be read.')
}
