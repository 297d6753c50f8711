/** Where compiled engines come from: a file in Node, a URL in a page, a static import in an edge worker. */
export interface EngineSource {
  /** Ids at hand, newest first. */
  readonly ids: readonly string[]
  /**
   * The engine with this id, ready to instantiate.
   * @throws CaissonError `engine_unavailable`, `engine_mismatch`
   */
  load(id: string): Promise<LoadedEngine>
}

/**
 * A `WebAssembly.Module`, where the types of a program declare it. Those of Node do not, and a program for Node need
 * not name the DOM for our sake.
 */
export type CompiledModule = typeof globalThis extends {
  WebAssembly: { Module: { prototype: infer Module } }
}
  ? Module
  : object

export interface LoadedEngine {
  /** The manifest as data; the isolate layer checks it before use. */
  readonly manifest: unknown
  readonly module: CompiledModule
  /** The sources of its guests as data (`guest.json` of the build); the isolate layer checks it before use. */
  readonly guest: unknown
  /** Which metering profile the module has. Counts are equal in all of them. */
  readonly profile: 'v8' | 'portable'
}
