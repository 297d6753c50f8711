/**
 * The engine we build on: the QuickJS module of `@jitl/quickjs-wasmfile-release-sync`, pinned by its hash.
 *
 * Its imports and exports have minified names, different in every build. The names below were read from the
 * glue code of exactly this build; another hash means that all of this has to be derived again
 * (`CONTRIBUTING.md`, "A new engine").
 */
export const UPSTREAM = {
  package: '@jitl/quickjs-wasmfile-release-sync',
  version: '0.32.0',
  file: 'dist/emscripten-module.wasm',
  sha256: '105c3bed22d457e43e3d1c3c1c6959fda62a8fe06f0fc8a985303c3a2be72232',
} as const

/** Minified import (module `a`) to real name. */
export const IMPORT_NAMES: Readonly<Record<string, string>> = {
  a: 'memory',
  b: 'assert_fail',
  c: 'fd_write',
  d: 'fd_close',
  e: 'environ_get',
  f: 'environ_sizes_get',
  g: 'normalize_module',
  h: 'load_module',
  i: 'should_interrupt',
  j: 'setitimer',
  k: 'resize_heap',
  l: 'keepalive_clear',
  m: 'localtime',
  n: 'tzset',
  o: 'fd_seek',
  p: 'date_now',
  q: 'abort',
  r: 'proc_exit',
  s: 'call_function',
  t: 'free_host_ref',
}

/** Minified export to real name, for those that are kept. */
export const EXPORT_NAMES: Readonly<Record<string, string>> = {
  u: '__wasm_call_ctors',
  v: 'malloc',
  M: 'free',
  w: 'QTS_Throw',
  x: 'QTS_NewError',
  D: 'QTS_RuntimeSetMaxStackSize',
  E: 'QTS_GetUndefined',
  F: 'QTS_GetNull',
  G: 'QTS_GetFalse',
  H: 'QTS_GetTrue',
  K: 'QTS_NewRuntime',
  N: 'QTS_NewContext',
  P: 'QTS_FreeValuePointer',
  T: 'QTS_DupValuePointer',
  U: 'QTS_NewObject',
  W: 'QTS_NewArray',
  X: 'QTS_NewArrayBuffer',
  Y: 'QTS_NewFloat64',
  _: 'QTS_NewString',
  fa: 'QTS_IsJobPending',
  ga: 'QTS_ExecutePendingJob',
  ha: 'QTS_GetProp',
  ja: 'QTS_SetProp',
  ka: 'QTS_DefineProp',
  ma: 'QTS_Call',
  na: 'QTS_ResolveException',
  pa: 'QTS_Eval',
  ua: 'QTS_GetGlobalObject',
  va: 'QTS_NewPromiseCapability',
  wa: 'QTS_PromiseState',
  xa: 'QTS_PromiseResult',
  Da: 'QTS_NewFunction',
  Ka: 'QTS_bjson_decode',
}

/** What the build changes, found in this build's bytes. */
export const UPSTREAM_LAYOUT = {
  /** Initial value of the stack pointer global, and of the word that holds the end of the heap. */
  stackBase: 5_333_088,
  stackBytes: 5_242_880,
  heapEndAddress: 86_864,
  /** Offset of the promise rejection tracker's function index in the runtime struct. */
  rejectionField: 160,
} as const
