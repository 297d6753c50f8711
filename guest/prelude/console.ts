/**
 * The console. Its lines go to the host, which reads what is logged from the guest's heap: no getter runs and no
 * Proxy is asked (`src/isolate/bridge/heap-inspect.ts`). What most programs never call is in a unit.
 */
import { define } from './define.ts'
import type { Internals } from './host.ts'
import { defineLazily } from './lazy-globals.ts'

const RARE = [
  'assert',
  'clear',
  'count',
  'countReset',
  'dir',
  'dirxml',
  'group',
  'groupCollapsed',
  'groupEnd',
  'table',
  'time',
  'timeEnd',
  'timeLog',
  'trace',
]

export function createConsole(internals: Internals): object {
  const { host } = internals
  const console = {}
  for (const level of ['debug', 'log', 'info', 'warn', 'error'] as const) define(console, level, host[level])
  defineLazily(console, RARE, 'console', internals)
  return console
}
