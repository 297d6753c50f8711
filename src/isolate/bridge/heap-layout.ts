/**
 * Where the engine keeps what: the memory layout of QuickJS 2025-09-13 as built for
 * `@jitl/quickjs-wasmfile-release-sync` 0.32.0 (wasm32, NaN-boxed 64-bit values).
 *
 * The engine is pinned by the hash of its bytes, so these are constants of that build, not guesses about a
 * library. `probeHeapLayout` proves them on a live engine; the engine build runs it and fails when a new
 * engine moves a field. Offsets are bytes from the start of a structure unless their name ends in `WORD`
 * (32-bit words); the structures are those of `quickjs.c` and carry its names.
 *
 * Invariants
 * 1. Everything that any file here knows about the engine's memory stands in this file.
 */

/**
 * `JSValue` tags: the upper word of a value cell. Negative ones carry a pointer in the lower word. A cell
 * whose tag lies outside of this range is a float64, shifted by `FLOAT_SHIFT`.
 */
export const TAG = {
  first: -9,
  bigInt: -9,
  symbol: -8,
  string: -7,
  rope: -6,
  module: -3,
  functionBytecode: -2,
  object: -1,
  int: 0,
  bool: 1,
  null: 2,
  undefined: 3,
  uninitialized: 4,
  catchOffset: 5,
  exception: 6,
  shortBigInt: 7,
  float64: 8,
} as const

/** `JS_FLOAT64_TAG_ADDEND`: add it to the upper word of a float cell to get the upper word of the double. */
export const FLOAT_SHIFT: number = 0x7ff8_0000 + 9 + 1

/** `enum JS_CLASS_*`: the kind of an object. */
export const CLASS = {
  object: 1,
  array: 2,
  error: 3,
  number: 4,
  string: 5,
  boolean: 6,
  symbol: 7,
  arguments: 8,
  mappedArguments: 9,
  date: 10,
  moduleNamespace: 11,
  cFunction: 12,
  bytecodeFunction: 13,
  boundFunction: 14,
  cFunctionData: 15,
  generatorFunction: 16,
  regExp: 18,
  arrayBuffer: 19,
  sharedArrayBuffer: 20,
  uint8ClampedArray: 21,
  int8Array: 22,
  uint8Array: 23,
  int16Array: 24,
  uint16Array: 25,
  int32Array: 26,
  uint32Array: 27,
  bigInt64Array: 28,
  bigUint64Array: 29,
  float16Array: 30,
  float32Array: 31,
  float64Array: 32,
  dataView: 33,
  bigInt: 34,
  map: 35,
  set: 36,
  weakMap: 37,
  weakSet: 38,
  generator: 48,
  globalObject: 49,
  proxy: 50,
  promise: 51,
  promiseResolve: 52,
  promiseReject: 53,
  asyncFunction: 54,
  asyncFunctionResolve: 55,
  asyncFunctionReject: 56,
  asyncGeneratorFunction: 58,
  asyncGenerator: 59,
  weakRef: 60,
  finalizationRegistry: 61,
} as const

/** Names of classes for messages. What is missing here is an internal helper of the engine. */
export const CLASS_NAMES: Readonly<Record<number, string>> = {
  1: 'Object',
  2: 'Array',
  3: 'Error',
  4: 'Number',
  5: 'String',
  6: 'Boolean',
  7: 'Symbol',
  8: 'Arguments',
  9: 'Arguments',
  10: 'Date',
  11: 'module namespace',
  12: 'function',
  13: 'function',
  14: 'function',
  15: 'function',
  16: 'generator function',
  18: 'RegExp',
  19: 'ArrayBuffer',
  20: 'SharedArrayBuffer',
  21: 'Uint8ClampedArray',
  22: 'Int8Array',
  23: 'Uint8Array',
  24: 'Int16Array',
  25: 'Uint16Array',
  26: 'Int32Array',
  27: 'Uint32Array',
  28: 'BigInt64Array',
  29: 'BigUint64Array',
  30: 'Float16Array',
  31: 'Float32Array',
  32: 'Float64Array',
  33: 'DataView',
  34: 'BigInt',
  35: 'Map',
  36: 'Set',
  37: 'WeakMap',
  38: 'WeakSet',
  39: 'Iterator',
  40: 'Iterator',
  41: 'Iterator',
  42: 'Iterator',
  43: 'Map Iterator',
  44: 'Set Iterator',
  45: 'Array Iterator',
  46: 'String Iterator',
  47: 'RegExp String Iterator',
  48: 'Generator',
  49: 'global object',
  50: 'Proxy',
  51: 'Promise',
  52: 'function',
  53: 'function',
  54: 'async function',
  55: 'function',
  56: 'function',
  58: 'async generator function',
  59: 'AsyncGenerator',
  60: 'WeakRef',
  61: 'FinalizationRegistry',
}

/** `struct JSRuntime`. */
export const RUNTIME = { atomSize: 44, atomArray: 56 } as const

/** `struct JSObject`, 8-byte aligned. `data` is its union: class-specific words or a value cell. */
export const OBJECT = { size: 48, shapeWord: 5, propsWord: 6, dataWord: 8 } as const

/** The second word of an object: GC kind in the lowest bits, flags, and the class in the upper half. */
export const OBJECT_HEADER = { gcKindMask: 0xf, fastArray: 0x0800, classShift: 16 } as const

/** The data words of fast arrays (`values` cells) and of typed arrays (`typedArray` structure). */
export const ARRAY_DATA = { typedArrayWord: 8, valuesWord: 9, countWord: 10 } as const

/** `struct JSShape`: 8 bytes for each property follow its head: flags in the upper 6 bits, then the atom. */
export const SHAPE = { size: 48, propCountWord: 8, protoWord: 11, propsWord: 12, flagsShift: 26 } as const

/** Flags of a property. `kindMask` is zero for a plain data property. */
export const PROP = {
  enumerable: 4,
  kindMask: 0x30,
  getSet: 0x10,
  varRef: 0x20,
  autoInit: 0x30,
} as const

/** An atom with the uppermost bit set is an array index; any other one is an index into `atom_array`. */
export const ATOM = { none: 0, indexFlag: 0x8000_0000, typeShift: 30, typeString: 1 } as const

/** Atoms of the engine's own table, the same in every guest. */
export const KNOWN_ATOM = {
  length: 50,
  message: 54,
  cause: 55,
  errors: 56,
  stack: 57,
  name: 58,
  constructor: 64,
} as const

/** `struct JSString`: length in 31 bits and the 16-bit flag, atom kind in the upper two bits of `hash`. */
export const STRING = {
  size: 16,
  lengthWord: 1,
  hashWord: 2,
  lengthMask: 0x7fff_ffff,
  maxLength: 0x3fff_ffff,
} as const

/** `struct JSStringRope`: a string not yet joined. `left` and `right` are value cells. */
export const ROPE = { size: 32, lengthWord: 1, leftWord: 4, rightWord: 6 } as const

/** `struct JSBigInt`: two's complement, least significant limb of 32 bits first. */
export const BIG_INT = { lengthWord: 1, limbsWord: 2, maxLimbs: 32_769 } as const

/** `JSRegExp` inside an object: two strings. The second holds bytecode that starts with 16 bits of flags. */
export const REG_EXP = { patternWord: 8, bytecodeWord: 9, bytecodeFlagsWord: 4 } as const

/** Bits of the flags in a compiled pattern, in the order in which a `flags` string has them. */
export const REG_EXP_FLAGS: readonly (readonly [string, number])[] = [
  ['d', 1 << 6],
  ['g', 1 << 0],
  ['i', 1 << 1],
  ['m', 1 << 2],
  ['s', 1 << 3],
  ['u', 1 << 4],
  ['v', 1 << 8],
  ['y', 1 << 5],
]

/** `struct JSMapState`: a circular list through `head`, in insertion order. */
export const MAP_STATE = { size: 32, head: 4, nextWord: 2, countWord: 3 } as const

/** `struct JSMapRecord`. List pointers lead to `link`; a deleted record has `empty` set. */
export const MAP_RECORD = {
  size: 40,
  link: 8,
  nextWord: 3,
  emptyWord: 1,
  emptyMask: 0xff,
  keyWord: 6,
  valueWord: 8,
} as const

/** `struct JSArrayBuffer`. `maxLengthWord` is -1 for a buffer of fixed size. */
export const ARRAY_BUFFER = {
  size: 32,
  lengthWord: 0,
  maxLengthWord: 1,
  flagsWord: 2,
  detachedMask: 0xff,
  dataWord: 3,
} as const

/** `struct JSTypedArray`, also behind a DataView. */
export const TYPED_ARRAY = { size: 28, bufferWord: 3, offsetWord: 4, lengthWord: 5, trackWord: 6 } as const

/** `struct JSVarRef`: where a variable lives that arguments objects and globals share with code. */
export const VAR_REF = { size: 32, valuePointerWord: 4 } as const

/** `struct JSProxyData`. */
export const PROXY = { size: 24, flagsWord: 4, isFunctionMask: 0xff } as const

/** `struct JSPromiseData`. */
export const PROMISE = { size: 32, stateWord: 0, pending: 0, rejected: 2, resultWord: 6 } as const
