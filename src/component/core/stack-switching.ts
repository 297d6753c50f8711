/**
 * Stack switching of the engine (JavaScript Promise Integration): wasm that waits in an import for a promise keeps its
 * frames, on a stack of its own. V8 has it from 13.7 on; Node 24 behind `--experimental-wasm-jspi`, Node 20 not at all.
 *
 * Source: https://github.com/WebAssembly/js-promise-integration
 */
type Call = (...args: unknown[]) => unknown

export interface StackSwitching {
  /** An import that may give a promise: the guest waits for it. It has to have been entered by what `promising` made. */
  suspending(call: Call): WebAssembly.ImportValue
  /** An export: what is called runs at once, until it returns, traps or waits. */
  promising(entry: Call): (...args: readonly unknown[]) => Promise<unknown>
}

/** What `lib.dom` does not know yet. */
interface Integration {
  readonly Suspending?: new (call: Call) => object
  readonly promising?: (entry: Call) => (...args: readonly unknown[]) => Promise<unknown>
}

/** Undefined where the engine has none. */
export function stackSwitching(): StackSwitching | undefined {
  const { Suspending, promising } = WebAssembly as Integration
  if (typeof Suspending !== 'function' || typeof promising !== 'function') return undefined
  return {
    suspending: (call) => new Suspending(call) as WebAssembly.ImportValue,
    promising,
  }
}
