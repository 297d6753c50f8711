import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { CaissonError } from '../base/errors.ts'
import { copyMeasured, copyValue, measureValue } from './copy-value.ts'
import { DEFAULT_VALUE_LIMITS } from './limits.ts'

function refusal(act: () => unknown): { code: string; message: string } {
  try {
    act()
  } catch (error) {
    if (error instanceof CaissonError) return { code: error.code, message: error.message }
    throw error
  }
  throw new Error('Nothing was thrown.')
}

describe('copyValue keeps', () => {
  it('primitives, NaN, -0, bigints and lone surrogates', () => {
    for (const value of [undefined, null, true, 0, -0, Number.NaN, 1e300, 2n ** 200n, '', '\ud800x\0']) {
      expect(Object.is(copyValue(value), value)).toBe(true)
    }
  })

  it('plain objects, whatever their keys are, without touching a prototype', () => {
    const hostile = JSON.parse(
      '{"__proto__": {"polluted": 1}, "constructor": 2, "prototype": 3, "toJSON": 4}',
    )
    const copy = copyValue(hostile)
    expect(Object.keys(copy)).toEqual(['__proto__', 'constructor', 'prototype', 'toJSON'])
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype)
    expect(Object.getOwnPropertyDescriptor(copy, '__proto__')?.value).toEqual({ polluted: 1 })
    expect(({} as { polluted?: number }).polluted).toBeUndefined()
  })

  it('instances of classes as their own enumerable data', () => {
    class Row {
      id = 1
      #hidden = 2
      get double(): number {
        return this.id * this.#hidden
      }
    }
    const copy = copyValue(new Row())
    expect(copy).toEqual({ id: 1 })
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype)
  })

  it('holes and extra properties of arrays', () => {
    // biome-ignore lint/suspicious/noSparseArray: the hole is the point
    const value: unknown[] & { extra?: number } = [1, , undefined, 4]
    value.extra = 5
    const copy = copyValue(value)
    expect(copy.length).toBe(4)
    expect(Object.keys(copy)).toEqual(['0', '2', '3', 'extra'])
  })

  it('sharing and cycles', () => {
    const shared = { n: 1 }
    const value: { a: unknown; b: unknown; self?: unknown; map: Map<unknown, unknown> } = {
      a: shared,
      b: [shared],
      map: new Map(),
    }
    value.self = value
    value.map.set(value.map, value)
    const copy = copyValue(value)
    expect(copy.self).toBe(copy)
    expect((copy.b as unknown[])[0]).toBe(copy.a)
    expect(copy.map.get(copy.map)).toBe(copy)
    expect(copy.a).not.toBe(shared)
  })

  it('errors with name, message and cause, and without the stack of the host', () => {
    const cause = new RangeError('inner')
    const error = new TypeError('outer', { cause })
    const copy = copyValue(error)
    expect(copy).toBeInstanceOf(TypeError)
    expect(copy.message).toBe('outer')
    expect(copy.cause).toBeInstanceOf(RangeError)
    expect(copy.stack).toBe('TypeError: outer')
    class ValidationError extends Error {
      override name = 'ValidationError'
    }
    const named = copyValue(new ValidationError('no'))
    expect([named.name, named.message, Object.keys(named)]).toEqual(['ValidationError', 'no', []])
  })

  it('values of other realms', () => {
    const foreign = runInNewContext(
      '({ o: { x: 1 }, d: new Date(5), m: new Map([[1, new Set([2])]]), e: new TypeError("t"), r: /a/gi, u: new Uint8Array([7]) })',
    ) as Record<string, unknown>
    const copy = copyValue(foreign)
    expect(copy).toEqual({
      o: { x: 1 },
      d: new Date(5),
      m: new Map([[1, new Set([2])]]),
      e: new TypeError('t'),
      r: /a/gi,
      u: new Uint8Array([7]),
    })
    expect(copy.d).toBeInstanceOf(Date)
  })

  it('subclasses and lying tags by their internal slots', () => {
    class Registry extends Map<number, number> {
      override get size(): number {
        throw new Error('must not run')
      }
      override forEach(): void {
        throw new Error('must not run')
      }
      override get [Symbol.toStringTag](): string {
        throw new Error('must not run')
      }
    }
    expect(copyValue(new Registry([[1, 2]]))).toEqual(new Map([[1, 2]]))
    expect(refusal(() => copyValue(Object.create(Map.prototype))).code).toBe('value_refused')
  })
})

describe('copyValue and binary data', () => {
  it('keeps views that share a buffer which travels whole', () => {
    const buffer = new Uint8Array([1, 2, 3, 4, 5, 6, 7, 8]).buffer
    for (const value of [
      { part: new Uint8Array(buffer, 2, 3), buffer },
      { buffer, part: new Uint8Array(buffer, 2, 3) },
      { part: new Uint8Array(buffer, 2, 3), all: new DataView(buffer), buffer },
    ]) {
      const copy = copyValue(value)
      expect(copy.part.buffer).toBe(copy.buffer)
      expect(copy.part.byteOffset).toBe(2)
      expect([...copy.part]).toEqual([3, 4, 5])
      expect(copy.buffer).not.toBe(buffer)
    }
  })

  it('never lets bytes travel that the value does not show', () => {
    const pool = new Uint8Array(8192).fill(0x53)
    const copy = copyValue(pool.subarray(100, 104))
    expect(copy.buffer.byteLength).toBe(4)
    expect(copyValue(Buffer.from('hi'))).toEqual(new Uint8Array([104, 105]))
  })

  it('refuses shared, resizable and detached buffers', () => {
    const Resizable = ArrayBuffer as unknown as new (
      length: number,
      options: { maxByteLength: number },
    ) => ArrayBuffer
    const resizable = new Resizable(8, { maxByteLength: 16 })
    const outOfBounds = new Uint8Array(resizable, 4)
    ;(resizable as ArrayBuffer & { resize(length: number): void }).resize(2)
    const detached = new ArrayBuffer(8)
    const detachedView = new Float64Array(detached)
    const { port1 } = new MessageChannel()
    port1.postMessage(detached, [detached])
    port1.close()
    for (const bad of [
      new SharedArrayBuffer(8),
      new Uint8Array(new SharedArrayBuffer(8)),
      resizable,
      outOfBounds,
      new DataView(resizable),
      detached,
      detachedView,
    ]) {
      for (const act of [() => copyValue({ at: [bad] }), () => measureValue({ at: [bad] })]) {
        expect(refusal(act)).toMatchObject({ code: 'value_refused', message: /^value\.at\[0\] / })
      }
    }
  })
})

describe('copyValue refuses', () => {
  it('functions, symbols and objects of the host, naming the path', () => {
    const bad: [unknown, string][] = [
      [() => 1, 'is a function'],
      [Symbol('x'), 'is a symbol'],
      [Promise.resolve(), 'is an object of the host'],
      [new WeakMap(), 'is an object of the host'],
      [new URL('http://a.example'), 'is an object of the host'],
      [new AbortController().signal, 'is an object of the host'],
      [Object(Symbol('x')), 'is an object of the host'],
    ]
    for (const [value, why] of bad) {
      const { code, message } = refusal(() =>
        copyValue({ list: [0, { 'odd key': value }] }, undefined, 'args'),
      )
      expect(code).toBe('value_refused')
      expect(message).toContain(`args.list[1]["odd key"] ${why}`)
    }
    const map = new Map([[1, new Set([2, new Error('e', { cause: () => 1 })])]])
    expect(refusal(() => copyValue({ map })).message).toContain(
      'value.map<value of entry 0><entry 1>.cause is a function',
    )
  })

  it('accessors, without running them', () => {
    let ran = 0
    const get = (): number => ++ran
    const accessor = (target: object, key: string): object =>
      Object.defineProperty(target, key, { get, enumerable: true })
    const setter = Object.defineProperty([1], '0', { set: get, enumerable: true })
    const error = Object.defineProperty(new Error('x'), 'message', { get })
    for (const value of [accessor({}, 'a'), accessor([1, 2, 3], '1'), accessor([], 'x'), setter, error]) {
      expect(refusal(() => copyValue(value)).code).toBe('value_refused')
      expect(refusal(() => measureValue(value)).code).toBe('value_refused')
    }
    expect(ran).toBe(0)
  })

  it('whatever a Proxy throws, and goes on after what it invents', () => {
    const traps = ['getPrototypeOf', 'ownKeys', 'getOwnPropertyDescriptor', 'has'] as const
    for (const trap of traps) {
      const thrower = (): never => {
        throw new Error(`secret of ${trap}`)
      }
      for (const target of [{ a: 1 }, [1], new Date()]) {
        const proxy = new Proxy(target, { [trap]: thrower })
        try {
          copyValue({ p: proxy })
        } catch (error) {
          expect(CaissonError.is(error, 'value_refused')).toBe(true)
          expect((error as Error).message).not.toContain('secret')
        }
      }
    }
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    expect(refusal(() => copyValue([proxy])).code).toBe('value_refused')
  })

  it('hostile keys in its messages', () => {
    const value = { ['\u001b[2J\u202e'.repeat(50)]: () => 1 }
    const { message } = refusal(() => copyValue(value))
    expect(message).not.toContain('\u001b')
    expect(message).not.toContain('\u202e')
    expect(message.length).toBeLessThan(500)
  })
})

describe('copyValue is bounded', () => {
  it('in depth, without the native stack', () => {
    let deep: unknown = []
    for (let i = 0; i < 100_000; i++) deep = [deep]
    expect(refusal(() => copyValue(deep)).code).toBe('value_too_deep')
    expect(refusal(() => copyValue(deep)).message.length).toBeLessThan(500)
    const copy = copyValue(deep, { ...DEFAULT_VALUE_LIMITS, depth: 200_000 })
    expect(Array.isArray(copy)).toBe(true)
  })

  it('in nodes and bytes, before anything is copied', () => {
    const limits = { bytes: 1000, nodes: 100, depth: 10 }
    for (const value of [
      'x'.repeat(1001),
      new Uint8Array(1001),
      new ArrayBuffer(1001),
      { ['k'.repeat(1001)]: 1 },
      new Array(101),
      new Array(2 ** 32 - 1),
      Array.from({ length: 101 }, () => 'x'),
      new Set(Array.from({ length: 101 }, (_, i) => i)),
      new Map(Array.from({ length: 51 }, (_, i) => [i, i])),
      new Error('x'.repeat(1001)),
      new RegExp('x'.repeat(1001)),
      2n ** 8009n,
      Object('x'.repeat(1001)),
    ]) {
      expect(refusal(() => copyValue(value, limits)).code).toBe('value_too_large')
      expect(refusal(() => measureValue(value, limits)).code).toBe('value_too_large')
    }
    expect(refusal(() => copyValue(new RegExp('x'.repeat(70_000)))).code).toBe('value_too_large')
    expect(copyValue(2n ** 7999n, limits)).toBe(2n ** 7999n)
  })

  it('by the graph, not by the tree that it unfolds to', () => {
    let value: unknown = {}
    for (let i = 0; i < 60; i++) value = [value, value]
    expect(measureValue(value)).toEqual({ nodes: 121, bytes: 121 * 8 })
    copyValue(value)
  })
})

describe('measureValue follows the canonical size rule', () => {
  const cases: [string, unknown, number, number][] = [
    ['undefined', undefined, 8, 1],
    ['string', 'häß', 3, 1],
    ['small bigint', -5n, 8, 1],
    ['bigint of 9 bytes', 2n ** 64n, 9, 1],
    ['negative bigint of 100 bytes', -(2n ** 799n), 100, 1],
    ['object', { ab: 'cde', f: 1 }, 8 + 2 + 3 + 1 + 8, 3],
    // biome-ignore lint/suspicious/noSparseArray: the hole is the point
    ['array with a hole', ['ab', , undefined], 8 + 2 + 8 + 8, 4],
    ['array with an extra property', Object.assign([1], { xy: 2 }), 8 + 8 + 2 + 8, 3],
    ['map', new Map([['k', 'vv']]), 8 + 1 + 2, 3],
    ['set', new Set(['abc']), 8 + 3, 2],
    ['date', new Date(), 8, 1],
    ['regexp', /abc/gi, 8 + 3 + 2, 1],
    ['error', new TypeError('no', { cause: 'x' }), 8 + 9 + 2 + 1, 2],
    ['buffer', new ArrayBuffer(10), 10, 1],
    ['view of a part', new Uint8Array(new ArrayBuffer(10), 2, 3), 8 + 3, 2],
    ['view of the whole', new Uint16Array(5), 8 + 10, 2],
    ['boxed string', Object('abc'), 3, 1],
  ]
  it.each(cases)('%s', (_, value, bytes, nodes) => {
    expect(measureValue(value)).toEqual({ bytes, nodes })
    expect(copyMeasured(value)).toMatchObject({ bytes, nodes })
    // The size of a copy is the size of the original.
    expect(measureValue(copyValue(value))).toEqual({ bytes, nodes })
  })
})

describe('copyMeasured freezes', () => {
  it('what can be frozen, and says what cannot', () => {
    const plain = copyMeasured({ a: [{ b: new Error('x') }] }, undefined, 'value', true)
    expect(plain.unfreezable).toBe(false)
    expect(Object.isFrozen(plain.value.a[0]?.b)).toBe(true)
    expect(Object.isFrozen(plain.value.a)).toBe(true)
    for (const value of [new Map(), new Set(), new Date(), /x/, new ArrayBuffer(1), new Uint8Array(1)]) {
      expect(copyMeasured([value], undefined, 'value', true).unfreezable).toBe(true)
    }
  })
})
