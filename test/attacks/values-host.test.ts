/**
 * ATTACKS 18, 19, 21, 55, 61 and 67, where the host holds the value: what a capability returns, what an embedder
 * passes in, what a store or a file hands back.
 */
import { afterEach, expect, it } from 'vitest'
import { CaissonError } from '../../src/base/errors.ts'
import { copyMeasured, copyValue, measureValue } from '../../src/values/copy-value.ts'
import { decodeCanonical } from '../../src/values/decode-canonical.ts'
import { digestValue } from '../../src/values/digest-value.ts'
import { encodeCanonical } from '../../src/values/encode-canonical.ts'
import { DEFAULT_VALUE_LIMITS } from '../../src/values/limits.ts'
import { fromTaggedJson, toTaggedJson } from '../../src/values/tagged-json.ts'

/** Every way in which the host reads a value. */
const READERS: readonly ((value: unknown) => unknown)[] = [
  copyValue,
  (value) => copyMeasured(value, DEFAULT_VALUE_LIMITS, 'value', true).value,
  (value) => decodeCanonical(encodeCanonical(value)),
  (value) => fromTaggedJson(JSON.parse(JSON.stringify(toTaggedJson(value)))),
]

function codeOf(act: () => unknown): string {
  try {
    act()
    return 'accepted'
  } catch (error) {
    return CaissonError.is(error) ? error.code : `uncontained ${String(error)}`
  }
}

const prototypes = [Object.prototype, Array.prototype, Map.prototype, Function.prototype, Error.prototype]
const before = prototypes.map((prototype) => Reflect.ownKeys(prototype).length)
afterEach(() => {
  expect(prototypes.map((prototype) => Reflect.ownKeys(prototype).length)).toEqual(before)
})

it('18: __proto__, constructor and prototype as keys are data and change no prototype', () => {
  const hostile = JSON.parse(
    '{"__proto__": {"isAdmin": true}, "constructor": {"prototype": {"isAdmin": true}}, "prototype": 1}',
  ) as object
  for (const read of READERS) {
    const copy = read(hostile) as object
    expect(Object.keys(copy).sort()).toEqual(['__proto__', 'constructor', 'prototype'])
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype)
    expect((copy as { isAdmin?: boolean }).isAdmin).toBeUndefined()
    expect(({} as { isAdmin?: boolean }).isAdmin).toBeUndefined()
  }
})

it('19: deep, wide and large values are refused before they are copied', () => {
  let deep: unknown = []
  for (let i = 0; i < 20_000; i++) deep = [deep]
  const wide = Object.fromEntries(Array.from({ length: 200_000 }, (_, i) => [`key${i}`, i]))
  const limits = { bytes: 1_000_000, nodes: 100_000, depth: 500 }
  const cases: [unknown, string][] = [
    [deep, 'value_too_deep'],
    [wide, 'value_too_large'],
    ['x'.repeat(50_000_000), 'value_too_large'],
    [new Error('x'.repeat(40_000_000)), 'value_too_large'],
    [new Map(Array.from({ length: 60_000 }, (_, i) => [i, i])), 'value_too_large'],
    [2n ** 9_000_000n, 'value_too_large'],
  ]
  for (const [value, code] of cases) {
    for (const act of [copyValue, measureValue, encodeCanonical, toTaggedJson, digestValue]) {
      expect(codeOf(() => act(value, limits))).toBe(code)
    }
  }
})

it('19: what a value can do to the stack does not depend on how deep the host is', () => {
  let nested: unknown = 'bottom'
  for (let i = 0; i < 499; i++) nested = { nested }
  const atDepth = (frames: number): unknown => (frames === 0 ? copyValue(nested) : atDepth(frames - 1))
  expect(codeOf(() => atDepth(5_000))).toBe('accepted')
})

it('21: everything cloneable arrives as it was, and nothing is changed silently', () => {
  const value = {
    numbers: [Number.NaN, -0, Number.NEGATIVE_INFINITY, 5e-324],
    big: -(2n ** 70n),
    nothing: undefined,
    text: 'a\0b\ud800c',
    map: new Map<unknown, unknown>([[{ key: 1 }, new Set([Number.NaN])]]),
    date: new Date(8.64e15),
    pattern: /^(?<x>\d+)\/$/giu,
    error: new RangeError('outer', { cause: new TypeError('inner') }),
    views: [
      new Float32Array([1.5]),
      new Int8Array([-1]),
      new BigUint64Array([2n ** 64n - 1n]),
      new DataView(new ArrayBuffer(3)),
    ],
    sparse: Object.assign(new Array(3), { 1: 'x', extra: true }),
  }
  for (const read of READERS) {
    const copy = read(value) as typeof value
    expect(copy).toEqual(value)
    expect(copy.numbers.map((number, i) => Object.is(number, value.numbers[i]))).toEqual([
      true,
      true,
      true,
      true,
    ])
    expect('nothing' in copy && Object.keys(copy.sparse)).toEqual(['1', 'extra'])
    expect(copy.error.cause).toEqual(value.error.cause)
    expect(copy.error.stack).toBe('RangeError: outer')
  }
  for (const lost of [
    () => 1,
    Symbol.iterator,
    new WeakSet(),
    Promise.resolve(1),
    {
      get x(): number {
        return 1
      },
    },
  ]) {
    for (const read of READERS) expect(codeOf(() => read({ deep: [lost] }))).toBe('value_refused')
  }
})

it('55: a graph that is exponential as a tree costs its size as a graph everywhere', () => {
  let graph: unknown = { leaf: true }
  for (let i = 0; i < 100; i++) graph = { left: graph, right: graph }
  for (const read of READERS) expect(codeOf(() => read(graph))).toBe('accepted')
  expect(measureValue(graph).nodes).toBe(202)
  expect(digestValue(graph)).toBe(digestValue(copyValue(graph)))
})

it('61: a refusal stays short whatever the value is', () => {
  let value: unknown = () => 1
  for (let i = 0; i < 400; i++) value = { ['key\u001b['.repeat(5_000)]: value }
  try {
    copyValue(value, { ...DEFAULT_VALUE_LIMITS, bytes: 2 ** 31 })
    expect.unreachable()
  } catch (error) {
    expect((error as CaissonError).code).toBe('value_refused')
    expect((error as CaissonError).message.length).toBeLessThan(2_000)
    expect((error as CaissonError).message).not.toContain('\u001b')
  }
})

it('67: sparse giants and buffers that others can change are typed refusals', () => {
  const Resizable = ArrayBuffer as unknown as new (length: number, options: object) => ArrayBuffer
  const shrunk = new Resizable(16, { maxByteLength: 16 })
  const outOfBounds = new Uint16Array(shrunk, 8)
  ;(shrunk as unknown as { resize(length: number): void }).resize(4)
  for (const read of READERS) {
    expect(codeOf(() => read(new Array(2 ** 32 - 1)))).toBe('value_too_large')
    for (const bad of [
      outOfBounds,
      shrunk,
      new SharedArrayBuffer(4),
      new Int32Array(new SharedArrayBuffer(4)),
    ]) {
      expect(codeOf(() => read([bad]))).toBe('value_refused')
    }
  }
})
