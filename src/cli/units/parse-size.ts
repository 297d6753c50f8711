/** Sizes of memory: `32MiB`, `64MB`, `1.5GiB`, `1048576`. */
import { refuseValue } from './refuse-value.ts'

const KI = 1024
const BYTES: Readonly<Record<string, number>> = {
  '': 1,
  b: 1,
  kib: KI,
  mib: KI ** 2,
  gib: KI ** 3,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
}

const SIZE = /^(\d[\d_]{0,20}(?:\.\d{1,6})?) ?([a-z]{0,3})$/i

/**
 * Bytes, as a whole number. Units of 1024 (KiB, MiB, GiB) and of 1000 (KB, MB, GB) are told apart, so a bare
 * letter is refused rather than guessed.
 * @throws CliError usage
 */
export function parseSize(flag: string, text: string): number {
  const [, digits = '', unit = ''] = SIZE.exec(text.trim()) ?? []
  const factor = BYTES[unit.toLowerCase()]
  const bytes = Math.round(Number(digits.replaceAll('_', '')) * (factor ?? 0))
  if (digits !== '' && factor !== undefined && Number.isSafeInteger(bytes)) return bytes
  const expected = /^[kmg]$/i.test(unit)
    ? `a size with its whole unit, ${digits}${unit.toUpperCase()}iB (of 1024) or ${digits}${unit.toUpperCase()}B (of 1000)`
    : 'a size such as 32MiB, 64MB or a number of bytes'
  return refuseValue(flag, text, expected)
}

/**
 * What a number without a unit may have meant where so many bytes cannot be: `16` is `16MiB` between 1 MiB and
 * 2 GiB. Undefined where the text has a unit, or none fits.
 */
export function sizeMeant(text: string, min: number, max: number): string | undefined {
  const digits = text.trim()
  if (!/^[\d_.]+$/.test(digits)) return undefined
  const unit = ['KiB', 'MiB', 'GiB'].find((candidate) => {
    const bytes = Number(digits.replaceAll('_', '')) * (BYTES[candidate.toLowerCase()] ?? Number.NaN)
    return bytes >= min && bytes <= max
  })
  return unit === undefined ? undefined : digits + unit
}

/** Bytes for people: `64 MiB`, `1.5 KiB`, `12 B`. */
export function showSize(bytes: number): string {
  let value = bytes
  for (const unit of ['B', 'KiB', 'MiB']) {
    if (value < KI) return `${trim(value)} ${unit}`
    value /= KI
  }
  return `${trim(value)} GiB`
}

function trim(value: number): string {
  return String(Math.round(value * 10) / 10)
}
