/** Durations: `100ms`, `5s`, `2m`, `1h`. */
import { refuseValue } from './refuse-value.ts'

const MILLISECONDS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1e3,
  m: 60e3,
  min: 60e3,
  h: 3_600e3,
  d: 86_400e3,
}
const DURATION = /^(\d[\d_]{0,15}(?:\.\d{1,6})?) ?([a-z]{0,3})$/i

/**
 * Milliseconds, as a whole number. A number without a unit is refused: nobody could tell seconds from milliseconds.
 * @throws CliError usage
 */
export function parseDuration(flag: string, text: string): number {
  const [, digits = '', unit = ''] = DURATION.exec(text.trim()) ?? []
  const factor = MILLISECONDS[unit.toLowerCase()]
  const milliseconds = Math.round(Number(digits.replaceAll('_', '')) * (factor ?? 0))
  if (digits !== '' && factor !== undefined && Number.isSafeInteger(milliseconds)) return milliseconds
  const expected =
    digits !== '' && unit === ''
      ? `a duration with its unit, ${digits}s or ${digits}ms`
      : 'a duration such as 100ms, 5s, 2m or 1h'
  return refuseValue(flag, text, expected)
}

/** Milliseconds for people: `4 ms`, `1.2 s`, `2 m 5 s`, `1 h 30 m`, `7 d`. */
export function showDuration(milliseconds: number): string {
  if (milliseconds < 9.95) return `${Math.round(milliseconds * 10) / 10} ms`
  if (milliseconds < 999.5) return `${Math.round(milliseconds)} ms`
  const tenths = Math.round(milliseconds / 100)
  if (tenths < 600) return `${tenths / 10} s`
  const seconds = Math.round(milliseconds / 1000)
  if (seconds < HOUR) return twoUnits(seconds, 60, 'm', 's')
  const minutes = Math.round(seconds / 60)
  return minutes < 2 * DAY
    ? twoUnits(minutes, 60, 'h', 'm')
    : twoUnits(Math.round(minutes / 60), 24, 'd', 'h')
}

/** In seconds, and in minutes. */
const HOUR = 3_600
const DAY = 1_440

function twoUnits(amount: number, size: number, large: string, small: string): string {
  const rest = amount % size
  return `${Math.floor(amount / size)} ${large}${rest === 0 ? '' : ` ${rest} ${small}`}`
}
