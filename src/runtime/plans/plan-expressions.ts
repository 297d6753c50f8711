/** Conditions and small mappings of plans, evaluated in isolates. */
import type { Evaluated, EvaluateExpression } from '../../graph/run/evaluate.ts'
import { failureOf } from '../../graph/run/failure-class.ts'
import type { Limits } from '../../machine/limits.ts'
import type { RunOptions } from '../options.ts'
import type { Outcome } from '../outcome.ts'
import { programEnd } from './program-end.ts'

export interface ExpressionParts {
  /** When the run started, milliseconds since the epoch: the time of its expressions. */
  readonly startedAtMs: () => number
  readonly runProgram: (source: string, options: RunOptions) => Promise<Outcome>
  /** What all programs have in common. */
  readonly whose: Pick<RunOptions, 'domain' | 'principal'>
}

/** Of an expression: it computes with what it is given, and does nothing else. */
const EXPRESSION_LIMITS: Partial<Limits> = {
  fuel: 50_000_000,
  memoryBytes: 16 * 1024 * 1024,
  wallMs: 10_000,
  timers: 0,
}

/** Evaluates the expressions of a run, each in an isolate of its own. */
export function expressionsOf(parts: ExpressionParts): EvaluateExpression {
  return async (source, values, signal): Promise<Evaluated> => {
    const names = Object.keys(values)
    const program = `return (({ ${names.join(', ')} }) => (\n${source}\n))(input)`
    const outcome = await parts.runProgram(program, {
      ...parts.whose,
      input: values,
      form: 'body',
      fileName: 'expression.js',
      limits: EXPRESSION_LIMITS,
      // Equal expressions over equal values give equal values.
      seed: 0,
      nowMs: parts.startedAtMs(),
      signal,
    })
    if (outcome.status === 'completed') return { ok: true, value: outcome.value }
    const end = programEnd(outcome, signal, true)
    const error =
      end.end === 'failure' ? end.error : failureOf({ code: 'aborted', message: 'It was stopped.' })
    return { ok: false, error: { ...error, message: `The expression failed: ${error.message}` } }
  }
}
