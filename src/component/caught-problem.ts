import { CaissonError } from '../base/errors.ts'

/** What a check refuses, as data: for whoever tells all that is wrong together. */
export function caught(check: () => void): CaissonError | undefined {
  try {
    check()
  } catch (error) {
    if (CaissonError.is(error)) return error
    throw error
  }
  return undefined
}
