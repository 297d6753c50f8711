/** What of the console most programs never call (`../console.ts`). */
import type { Unit } from '../host.ts'
import { tableText } from './console/table.ts'

const unit: Unit = ({ host }) => {
  const counts = new Map<string, number>()
  const timers = new Map<string, number>()
  const labelOf = (label: unknown): string => `${label as string}`

  function elapsed(label: string): string | undefined {
    const start = timers.get(label)
    if (start !== undefined) return `${label}: ${Math.round((host.now() - start) * 1000) / 1000} ms`
    host.warn(`Timer '${label}' does not exist`)
    return undefined
  }

  const group = (...values: unknown[]): void => {
    if (values.length > 0) host.log(...values)
    host.indentLog(1)
  }

  return {
    assert(condition: unknown = false, ...values: unknown[]): void {
      if (condition) return
      if (typeof values[0] === 'string') values[0] = `Assertion failed: ${values[0]}`
      else values.unshift('Assertion failed')
      host.error(...values)
    },
    /** There is nothing to clear: lines that were written have left the guest. */
    clear(): void {},
    count(label: unknown = 'default'): void {
      const name = labelOf(label)
      const count = (counts.get(name) ?? 0) + 1
      counts.set(name, count)
      host.log(`${name}: ${count}`)
    },
    countReset(label: unknown = 'default'): void {
      if (!counts.delete(labelOf(label))) host.warn(`Count for '${labelOf(label)}' does not exist`)
    },
    dir(value: unknown): void {
      host.log(host.inspect([value]).slice(2, -2))
    },
    dirxml(...values: unknown[]): void {
      host.log(...values)
    },
    group,
    groupCollapsed: (...values: unknown[]): void => group(...values),
    groupEnd(): void {
      host.indentLog(-1)
    },
    table(data: unknown, columns?: readonly unknown[]): void {
      const text = typeof data === 'object' && data !== null ? tableText(data, columns, host) : undefined
      host.log(text ?? data)
    },
    time(label: unknown = 'default'): void {
      const name = labelOf(label)
      if (timers.has(name)) host.warn(`Timer '${name}' already exists`)
      else timers.set(name, host.now())
    },
    timeEnd(label: unknown = 'default'): void {
      const name = labelOf(label)
      const text = elapsed(name)
      timers.delete(name)
      if (text !== undefined) host.log(text)
    },
    timeLog(label: unknown = 'default', ...values: unknown[]): void {
      const text = elapsed(labelOf(label))
      if (text !== undefined) host.log('%s', text, ...values)
    },
    trace(...values: unknown[]): void {
      const head = values.length > 0 ? `Trace: ${host.inspect(...values)}` : 'Trace'
      const frames = (new Error().stack ?? '').split('\n').filter((line) => !line.includes('(caisson:'))
      host.debug([head, ...frames].join('\n').trimEnd())
    },
  }
}
export default unit
