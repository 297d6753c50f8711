/** Texts of those who say something to a run. */
import { CaissonError } from '../../base/errors.ts'

/** @throws CaissonError `invalid_argument` */
export function checkName(member: string, text: unknown): void {
  if (typeof text === 'string' && text !== '' && text.length <= 1_000) return
  throw new CaissonError('invalid_argument', `\`${member}\` is a text of 1 to 1,000 characters.`, {
    details: { option: member },
  })
}

/** @throws CaissonError `invalid_argument` */
export function checkText(member: string, text: unknown): void {
  if (typeof text === 'string' && text.length <= 10_000) return
  throw new CaissonError('invalid_argument', `\`${member}\` is a text of at most 10,000 characters.`, {
    details: { option: member },
  })
}
