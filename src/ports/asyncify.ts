/**
 * Rewrites a core module so that it can be suspended inside of a call to one of these imports and resumed later, in
 * another instance too: the Asyncify transformation of Binaryen, with its five `asyncify_*` exports.
 *
 * It takes seconds for megabytes, blocks its thread, and works on hostile bytes: run it where it can be thrown away.
 */
export interface Asyncify {
  /** Names its version: part of the key of whatever is kept of its work. */
  readonly version: string
  /**
   * @param imports `module.name` of each import that may suspend
   * @param functions by their place among those that the module defines: the only ones that can be unwound. Left out,
   *   all that may be on the way to such an import; the code of the others is not touched
   * @throws CaissonError `invalid_module`, `unsupported_feature`
   */
  rewrite(wasm: Uint8Array, imports: readonly string[], functions?: readonly number[]): Uint8Array
}
