/** Who does something to a run. */
import { CaissonError } from '../../base/errors.ts'

/** @throws CaissonError `invalid_argument` */
export function checkBy(by: unknown): asserts by is string {
  if (typeof by === 'string' && /^\P{Cc}{1,200}$/u.test(by)) return
  throw new CaissonError(
    'invalid_argument',
    'Who does it is said in `by`: 1 to 200 characters without control characters.',
    { details: { option: 'by' } },
  )
}
