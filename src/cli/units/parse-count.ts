/** Whole numbers: `1000`, `20_000_000_000`, `2e10`. */
import { refuseValue } from './refuse-value.ts'

const COUNT = /^\d[\d_]{0,25}(?:\.\d{1,15})?(?:e\d{1,2})?$/i

/**
 * A whole number from 0 that a double holds exactly.
 * @param example shown when the text is none
 * @throws CliError usage
 */
export function parseCount(flag: string, text: string, example: string): number {
  const value = COUNT.test(text.trim()) ? Number(text.trim().replaceAll('_', '')) : Number.NaN
  return Number.isSafeInteger(value) ? value : refuseValue(flag, text, `a whole number such as ${example}`)
}
