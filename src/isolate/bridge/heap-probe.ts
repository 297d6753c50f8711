/**
 * Proves on a live engine that `heap-layout.ts` describes it: the engine build runs this, so that an engine
 * whose structures moved fails there, with the name of what moved, and never reads wrong values later.
 *
 * Invariants
 * 1. Every constant of `heap-layout.ts` is needed by at least one probe.
 */
import { CaissonError } from '../../base/errors.ts'
import { DEFAULT_VALUE_LIMITS } from '../../values/limits.ts'
import { type GuestHeap, HeapReader } from './heap-reader.ts'

/** A guest to probe: a fresh runtime and context. */
export interface ProbedGuest extends GuestHeap {
  /** Evaluates an expression and returns the address of the cell with its value. */
  evaluate(source: string): number
}

interface Probe {
  /** What a failure says has moved. */
  readonly structure: string
  readonly source: string
  readonly holds: (value: unknown) => boolean
}

const same = (expected: unknown) => (value: unknown) => Object.is(value, expected)
const json = (expected: string) => (value: unknown) => JSON.stringify(value) === expected

const VIEWS =
  'Uint8ClampedArray Int8Array Uint8Array Int16Array Uint16Array Int32Array Uint32Array Float32Array Float64Array'

/** Values that cross. */
const READ: readonly Probe[] = [
  { structure: 'JSValue ints', source: '-2147483648', holds: same(-2147483648) },
  { structure: 'JSValue floats', source: '1.5e300', holds: same(1.5e300) },
  { structure: 'JSValue -0', source: '-0', holds: same(-0) },
  { structure: 'JSValue NaN', source: 'NaN', holds: same(Number.NaN) },
  { structure: 'JSValue booleans', source: 'true', holds: same(true) },
  { structure: 'JSValue null', source: 'null', holds: same(null) },
  { structure: 'JSValue undefined', source: 'undefined', holds: same(undefined) },
  { structure: 'JSString, one byte', source: '"h\\0\\u00e9"', holds: same('h\0\u00e9') },
  { structure: 'JSString, two bytes', source: '"\\ud800\\u65e5"', holds: same('\ud800\u65e5') },
  {
    structure: 'JSStringRope',
    source: '"x".repeat(9000)+"y".repeat(9000)+"\\u65e5"',
    holds: same(`${'x'.repeat(9000)}${'y'.repeat(9000)}\u65e5`),
  },
  { structure: 'short BigInt', source: '-7n', holds: same(-7n) },
  { structure: 'JSBigInt', source: '-(2n**100n)-5n', holds: same(-(2n ** 100n) - 5n) },
  {
    structure: 'JSObject and JSShape',
    source: '({b:1,a:{c:"d"},7:[true],[Symbol("s")]:1})',
    holds: json('{"7":[true],"b":1,"a":{"c":"d"}}'),
  },
  {
    structure: 'property flags',
    source: 'Object.defineProperty({v:1},"h",{value:2})',
    holds: json('{"v":1}'),
  },
  { structure: 'deleted properties', source: '(o=>(delete o.a,o))({a:1,b:2})', holds: json('{"b":2}') },
  { structure: 'fast arrays', source: '[1,"two",[3]]', holds: json('[1,"two",[3]]') },
  {
    structure: 'arrays with holes',
    source: '(a=>(delete a[1],a.k=5,a))([1,2,3])',
    holds: (value) => Array.isArray(value) && value.length === 3 && Object.keys(value).join() === '0,2,k',
  },
  { structure: 'array length', source: 'new Array(5)', holds: (value) => (value as unknown[]).length === 5 },
  {
    structure: 'arguments objects',
    source: '[(function(){return arguments})(4,5),(function(){"use strict";return arguments})(6)]',
    holds: json('[{"0":4,"1":5},{"0":6}]'),
  },
  {
    structure: 'Date',
    source: 'new Date(86400000)',
    holds: (value) => (value as Date).getTime() === 86_400_000,
  },
  { structure: 'JSRegExp', source: '/a+[b]/dgimsuy', holds: (value) => String(value) === '/a+[b]/dgimsuy' },
  { structure: 'JSRegExp, v flag', source: '/q/v', holds: (value) => String(value) === '/q/v' },
  {
    structure: 'JSMapState',
    source: '(m=>(m.delete(2),m))(new Map([[1,"a"],[2,"b"],["k",{}]]))',
    holds: (value) => JSON.stringify([...(value as Map<unknown, unknown>)]) === '[[1,"a"],["k",{}]]',
  },
  {
    structure: 'JSMapState of sets',
    source: 'new Set([3,"x"])',
    holds: (value) => JSON.stringify([...(value as Set<unknown>)]) === '[3,"x"]',
  },
  {
    structure: 'boxed primitives',
    source: '[Object(1),Object("s"),Object(true),Object(9n)]',
    holds: (value) =>
      (value as object[]).map(String).join() === '1,s,true,9' && typeof (value as object[])[3] === 'object',
  },
  {
    structure: 'JSArrayBuffer',
    source: 'new Uint8Array([1,2,3]).buffer',
    holds: (value) => [...new Uint8Array(value as ArrayBuffer)].join() === '1,2,3',
  },
  {
    structure: 'JSTypedArray',
    source: `(b=>[${VIEWS.split(' ')
      .map((name) => `new ${name}(b,8,1)`)
      .join()},new BigInt64Array(b,8,1),new BigUint64Array(b,8,1),new DataView(b,3,7)])(new ArrayBuffer(32))`,
    holds: (value) =>
      (value as ArrayBufferView[])
        .map((view) => `${view.constructor.name}:${view.byteOffset}:${view.byteLength}`)
        .join() ===
      'Uint8ClampedArray:8:1,Int8Array:8:1,Uint8Array:8:1,Int16Array:8:2,Uint16Array:8:2,Int32Array:8:4,' +
        'Uint32Array:8:4,Float32Array:8:4,Float64Array:8:8,BigInt64Array:8:8,BigUint64Array:8:8,DataView:3:7',
  },
  {
    structure: 'Error and its atoms',
    source: 'new TypeError("m",{cause:[1]})',
    holds: (value) =>
      value instanceof TypeError &&
      value.message === 'm' &&
      JSON.stringify(value.cause) === '[1]' &&
      String(value.stack).includes('at '),
  },
  {
    structure: 'prototype chain',
    source: 'new (class A extends Error{static{this.prototype.name="N"}})',
    holds: (value) => (value as Error).name === 'N',
  },
  {
    structure: 'reference counts',
    source: '(o=>(o.self=o,o))({})',
    holds: (value) => (value as { self: unknown }).self === value,
  },
]

/** Values that do not cross, as `inspect` shows them. */
const SHOWN: readonly (readonly [source: string, shown: string])[] = [
  ['()=>1', '[Function (anonymous)]'],
  ['(function f(){})', '[Function: f]'],
  ['async()=>{}', '[Function (anonymous)]'],
  ['(function*g(){})', '[Function: g]'],
  ['(async function*a(){})', '[Function: a]'],
  ['Math.max.bind()', '[Function: bound max]'],
  ['Math.max', '[Function: max]'],
  ['Symbol("s")', 'Symbol(s)'],
  ['Promise.resolve([1])', 'Promise { [ 1 ] }'],
  ['Promise.reject("no")', "Promise { <rejected> 'no' }"],
  ['new Promise(()=>{})', 'Promise { <pending> }'],
  ['new Proxy({},{})', '[Proxy]'],
  ['new WeakMap', 'WeakMap {}'],
  ['new WeakSet', 'WeakSet {}'],
  ['new WeakRef({})', 'WeakRef {}'],
  ['new FinalizationRegistry(()=>{})', 'FinalizationRegistry {}'],
  ['(function*(){})()', 'Generator {}'],
  ['(async function*(){})()', 'AsyncGenerator {}'],
  ['globalThis', 'global object {}'],
  ['new SharedArrayBuffer(1)', 'SharedArrayBuffer {}'],
  ['new (class Foo{x=1})', 'Foo { x: 1 }'],
  ['({get a(){return 1},set a(v){}})', '{ a: [Getter/Setter] }'],
]

/** Values that are refused. */
const REFUSED: readonly string[] = [
  'Object(Symbol())',
  'new ArrayBuffer(1,{maxByteLength:2})',
  '(b=>(b.transfer(),b))(new ArrayBuffer(1))',
  'new Float16Array(1)',
]

/** @throws CaissonError `engine_mismatch`, naming the structure that is not where `heap-layout.ts` says */
export function probeHeapLayout(guest: ProbedGuest): void {
  const reader = new HeapReader(guest)
  for (const { structure, source, holds } of READ) {
    let value: unknown
    try {
      value = reader.read(guest.evaluate(source), DEFAULT_VALUE_LIMITS)
    } catch (error) {
      throw moved(structure, source, error)
    }
    if (!holds(value)) throw moved(structure, source, undefined)
  }
  for (const [source, shown] of SHOWN) {
    const text = reader.inspect(guest.evaluate(source))
    if (text !== shown) throw moved(`a class (shown as ${text})`, source, undefined)
  }
  for (const source of REFUSED) {
    let code = 'nothing'
    try {
      reader.read(guest.evaluate(source), DEFAULT_VALUE_LIMITS)
    } catch (error) {
      if (CaissonError.is(error)) code = error.code
    }
    if (code !== 'value_refused') throw moved(`a flag (${code})`, source, undefined)
  }
}

function moved(structure: string, source: string, cause: unknown): CaissonError {
  return new CaissonError(
    'engine_mismatch',
    `The heap layout does not fit this engine: ${structure} is not where it should be (probe: ${source}).`,
    { details: { structure, source }, cause },
  )
}
