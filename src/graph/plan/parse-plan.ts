/** A plan from its text, for who has the text and nothing else. What reads YAML is loaded with the first text. */
import { CaissonError } from '../../base/errors.ts'
import { clipText, escapeText } from '../../base/escape-text.ts'
import { type DefinedPlan, readPlan } from './define-plan.ts'
import { shownPointer } from './plan-problem.ts'

/**
 * Reads a plan that is written in YAML or JSON, and checks it.
 * @param text at most 1,048,576 UTF-16 units
 * @throws CaissonError `invalid_plan` with `details: { problems, count }`: what is wrong, the first hundred, each with
 *   its JSON Pointer (`at`), `line` and `column`
 */
export async function parsePlan(text: string): Promise<DefinedPlan> {
  const { parsePlanText } = await import('./parse-plan-text.ts')
  const parsed = parsePlanText(text)
  const read = parsed.problems.count > 0 ? parsed : readPlan(parsed.document)
  if ('plan' in read && read.plan !== undefined) return read.plan
  const { found, count } = read.problems as typeof parsed.problems
  const problems = found.map((one) => ({ at: one.at, problem: one.problem, ...parsed.placeOf(one) }))
  const [first = { at: '', problem: '', line: 1, column: 1 }] = problems
  const where = `line ${first.line}, column ${first.column} (${escapeText(clipText(shownPointer(first.at), 200))})`
  const more = count > 1 ? ` And ${count - 1} more: see details.problems.` : ''
  const message = `The plan is not valid. ${where}: ${first.problem}.${more}`
  throw new CaissonError('invalid_plan', message, { details: { problems, count } })
}
