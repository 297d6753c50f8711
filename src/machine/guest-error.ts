/** Errors of guests as they come back from outside of the process: checked before people are shown them. */

type Fields = Readonly<Record<string, unknown>>

/** Far more than are read out of a guest; a cycle has more. */
const MOST_CAUSES = 1_000

/** Whether a value has the shape of a `GuestError`, with every cause of it. */
export function isGuestError(value: unknown): boolean {
  let error = value
  for (let causes = 0; causes < MOST_CAUSES; causes += 1) {
    if (!isRecord(error)) return false
    const { name, message, code, stack, position, cause } = error
    if (!isText(name) || !isText(message)) return false
    if (!isLeftOutOr(isText, code) || !isLeftOutOr(isText, stack) || !isLeftOutOr(isPosition, position))
      return false
    if (cause === undefined) return true
    error = cause
  }
  return false
}

function isPosition(value: unknown): boolean {
  return isRecord(value) && isText(value.file) && isNumber(value.line) && isNumber(value.column)
}

function isLeftOutOr(holds: (value: unknown) => boolean, value: unknown): boolean {
  return value === undefined || holds(value)
}

function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function isNumber(value: unknown): value is number {
  return Number.isFinite(value)
}
