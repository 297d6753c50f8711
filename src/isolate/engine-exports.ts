/**
 * What the engine module exports, by real names. A pointer is a byte offset into the linear memory; a value
 * pointer is the address of an 8-byte cell that holds a `JSValue`.
 *
 * Source: the C interface of quickjs-emscripten 0.32 (`QTS_*`). Everything that comes back is hostile.
 */
export interface EngineExports {
  readonly __wasm_call_ctors: () => void
  readonly malloc: (bytes: number) => number
  readonly free: (pointer: number) => void
  readonly QTS_NewRuntime: () => number
  readonly QTS_NewContext: (runtime: number, intrinsics: number) => number
  readonly QTS_RuntimeSetMaxStackSize: (runtime: number, bytes: number) => void
  readonly QTS_GetGlobalObject: (context: number) => number
  readonly QTS_GetUndefined: () => number
  readonly QTS_GetNull: () => number
  readonly QTS_GetFalse: () => number
  readonly QTS_GetTrue: () => number
  readonly QTS_NewObject: (context: number) => number
  readonly QTS_NewArray: (context: number) => number
  readonly QTS_NewArrayBuffer: (context: number, buffer: number, bytes: number) => number
  readonly QTS_NewFloat64: (context: number, value: number) => number
  readonly QTS_NewString: (context: number, utf8: number) => number
  readonly QTS_NewError: (context: number) => number
  readonly QTS_NewFunction: (
    context: number,
    name: number,
    length: number,
    isConstructor: number,
    hostFunction: number,
  ) => number
  readonly QTS_NewPromiseCapability: (context: number, resolveAndReject: number) => number
  readonly QTS_PromiseState: (context: number, value: number) => number
  readonly QTS_PromiseResult: (context: number, value: number) => number
  readonly QTS_GetProp: (context: number, object: number, key: number) => number
  readonly QTS_SetProp: (context: number, object: number, key: number, value: number) => void
  readonly QTS_DefineProp: (
    context: number,
    object: number,
    key: number,
    value: number,
    getter: number,
    setter: number,
    configurable: number,
    enumerable: number,
    hasValue: number,
  ) => void
  readonly QTS_Call: (context: number, fn: number, self: number, count: number, values: number) => number
  readonly QTS_Eval: (
    context: number,
    utf8: number,
    bytes: number,
    fileName: number,
    detectModule: number,
    flags: number,
  ) => number
  readonly QTS_ResolveException: (context: number, value: number) => number
  readonly QTS_Throw: (context: number, error: number) => number
  readonly QTS_IsJobPending: (runtime: number) => number
  readonly QTS_ExecutePendingJob: (runtime: number, most: number, lastContext: number) => number
  readonly QTS_DupValuePointer: (context: number, value: number) => number
  readonly QTS_FreeValuePointer: (context: number, value: number) => void
  readonly QTS_bjson_decode: (context: number, arrayBuffer: number) => number
}
