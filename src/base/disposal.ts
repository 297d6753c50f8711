/**
 * The keys of disposal methods, on runtimes that lack them too (Safari, Chromium before 134).
 *
 * A class that writes `[Symbol.dispose]()` there gets a method named "undefined". The fallback is the symbol that
 * the helpers of TypeScript and esbuild for `using` look for; nothing is planted on the host's `Symbol`.
 */

const symbols: { readonly dispose?: symbol; readonly asyncDispose?: symbol } = Symbol

/** Use as `[DISPOSE](): void`, where `using` disposes synchronously. */
export const DISPOSE: typeof Symbol.dispose = (symbols.dispose ??
  Symbol.for('Symbol.dispose')) as typeof Symbol.dispose

/** Use as `[ASYNC_DISPOSE](): Promise<void>`, where `await using` disposes. */
export const ASYNC_DISPOSE: typeof Symbol.asyncDispose = (symbols.asyncDispose ??
  Symbol.for('Symbol.asyncDispose')) as typeof Symbol.asyncDispose
