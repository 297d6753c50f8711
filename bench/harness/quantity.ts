/** Quantities for people: three significant digits and a unit that keeps them short. */
import type { Unit } from './suite.ts'

const SCALES: Readonly<Record<Unit, readonly (readonly [number, string])[]>> = {
  ns: [
    [1e9, 's'],
    [1e6, 'ms'],
    [1e3, 'us'],
    [1, 'ns'],
  ],
  bytes: [
    [2 ** 20, 'MiB'],
    [2 ** 10, 'KiB'],
    [1, 'B'],
  ],
  differences: [[1, 'differences']],
  times: [[1, 'times']],
  syncs: [[1, 'syncs']],
}

/** Three significant digits, never in exponent form. */
export function threeDigits(value: number): string {
  const magnitude = Math.abs(value)
  if (magnitude >= 100) return value.toFixed(0)
  return value.toFixed(magnitude >= 10 ? 1 : 2)
}

/** `12_345` ns as `12.3 us`. */
export function formatQuantity(value: number, unit: Unit): string {
  const scales = SCALES[unit]
  const [factor, name] =
    scales.find(([each]) => Math.abs(value) >= each) ?? (scales.at(-1) as readonly [number, string])
  return `${threeDigits(value / factor)} ${name}`
}
