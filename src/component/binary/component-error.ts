/** How components that cannot be taken are reported: a code, and the byte offset where there is one. */
import { CaissonError } from '../../base/errors.ts'
import { clipText, escapeText } from '../../base/escape-text.ts'

/** Of a message, which may hold names that the component chose. */
const MOST_MESSAGE = 500

export function invalidComponent(message: string, offset?: number): CaissonError {
  const where = offset === undefined ? '' : ` (at byte ${offset} of the component)`
  return new CaissonError('invalid_component', `${shown(message)}${where}`, {
    details: offset === undefined ? {} : { offset },
  })
}

/** The component may be valid, and uses what guests here cannot use. */
export function unsupportedInComponent(feature: string, offset?: number): CaissonError {
  const where = offset === undefined ? '' : ` (at byte ${offset} of the component)`
  return new CaissonError('unsupported_feature', `The component uses ${shown(feature)}${where}`, {
    details: { feature, ...(offset !== undefined && { offset }) },
  })
}

function shown(text: string): string {
  return escapeText(clipText(text, MOST_MESSAGE))
}
