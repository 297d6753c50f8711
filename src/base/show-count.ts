/** Numbers for people. */

/** `12345678` as `12,345,678`, on every machine alike. For whole numbers. */
export function showCount(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ',')
}
