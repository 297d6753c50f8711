/** Points in time: ISO 8601 with a zone, or a date (midnight UTC). */
import { refuseValue } from './refuse-value.ts'

const INSTANT =
  /^(\d{4})-(\d{2})-(\d{2})(?:T(\d{2}):(\d{2})(?::(\d{2})(?:\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})?)?$/

/**
 * Milliseconds since the epoch. A time without a zone is refused: it would mean another moment on another machine.
 * @throws CliError usage
 */
export function parseInstant(flag: string, text: string): number {
  const match = INSTANT.exec(text.trim())
  const [, year, month, day, hour, , , zone] = match ?? []
  if (match && hour !== undefined && zone === undefined) {
    return refuseValue(flag, text, `a time with its zone, such as ${text.trim()}Z`)
  }
  const milliseconds = match ? Date.parse(text.trim()) : Number.NaN
  // Engines differ over 30 February: some take it for 2 March.
  const lastDay = new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate()
  if (Number.isFinite(milliseconds) && Number(day) <= lastDay) return milliseconds
  return refuseValue(flag, text, 'an ISO 8601 time such as 2026-01-01T00:00:00Z')
}
