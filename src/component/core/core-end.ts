/** How a turn of a core guest ends, and what an engine's exception means. */
import type { LimitName } from '../../machine/limits.ts'
import type { SuspendingImport } from './core-manifest.ts'

/** The traps of the core specification, by what happened. */
export type TrapKind =
  | 'unreachable'
  | 'memory out of bounds'
  | 'table out of bounds'
  | 'indirect call'
  | 'integer division'
  | 'integer overflow'
  | 'null reference'
  | 'uncaught exception'
  | 'other'

export type CoreEnd =
  /** The export returned: an empty list, its result, or all of them. */
  | { readonly status: 'returned'; readonly values: readonly unknown[] }
  /** It waits for the answer of this import, called with these numbers; `resume` gives it. */
  | { readonly status: 'suspended'; readonly at: SuspendingImport; readonly args: readonly unknown[] }
  /** It asked to end (`exit`). */
  | { readonly status: 'exited'; readonly code: number }
  /** `memoryRefused`: growth was refused before, which is the likely reason of a trap too. */
  | { readonly status: 'exhausted'; readonly limit: LimitName }
  | {
      readonly status: 'trapped'
      readonly trap: TrapKind
      /** The engine's words, bounded. They differ from engine to engine: for people only. */
      readonly message: string
      /** Whether it had been refused memory before, which is the likely reason. */
      readonly memoryRefused: boolean
    }
  | { readonly status: 'aborted' }
  /** Something of the host's failed inside of an import. */
  | { readonly status: 'faulted'; readonly error: unknown }

/** V8, SpiderMonkey and JavaScriptCore, in their words. */
const MESSAGES: readonly (readonly [RegExp, TrapKind])[] = [
  [/unreachable/i, 'unreachable'],
  [
    /table index|out of bounds table|table access|element segment|out of bounds.*table/i,
    'table out of bounds',
  ],
  [/memory access|out of bounds memory|data segment|index out of bounds/i, 'memory out of bounds'],
  [/signature|indirect call/i, 'indirect call'],
  [/divide|division|remainder by zero/i, 'integer division'],
  [/unrepresentable|integer overflow|out.of.range|float.*trunc/i, 'integer overflow'],
  [/null/i, 'null reference'],
]

const MOST_MESSAGE = 200

/** What was thrown out of wasm, as a trap; undefined if it is none. */
export function trapOf(thrown: unknown): { trap: TrapKind; message: string } | undefined {
  if (thrown instanceof WebAssembly.RuntimeError) {
    const message = thrown.message.slice(0, MOST_MESSAGE)
    return { trap: MESSAGES.find(([pattern]) => pattern.test(message))?.[1] ?? 'other', message }
  }
  const { Exception } = WebAssembly as { Exception?: new (...args: never) => object }
  if (Exception !== undefined && thrown instanceof Exception) {
    return { trap: 'uncaught exception', message: 'An exception of the module reached its host.' }
  }
  return undefined
}
