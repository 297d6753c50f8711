/** Numbers, dates and foreign text, as the page shows them. */

const ENTITIES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' } as const
const MONTHS = 'January February March April May June July August September October November December'.split(
  ' ',
)

export const escapeHtml = (text: unknown): string =>
  String(text).replace(/[&<>"']/g, (character) => ENTITIES[character as keyof typeof ENTITIES])

/** With a narrow space between thousands. */
export const grouped = (digits: string): string => digits.replace(/\B(?=(\d{3})+(?!\d))/g, '\u202f')

export const count = (value: number): string => grouped(String(value))

export function euros(value: number): string {
  const [whole = '', cents = ''] = value.toFixed(2).split('.')
  return `${grouped(whole)}.${cents}`
}

/** With its sign, and none for what would be rounded to nothing. */
export function percent(ratio: number): string {
  const text = Math.abs(ratio * 100).toFixed(1)
  return text === '0.0' ? '0.0\u202f%' : `${ratio < 0 ? '−' : '+'}${text}\u202f%`
}

export const day = (date: Date): string =>
  `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]} ${date.getUTCFullYear()}`
