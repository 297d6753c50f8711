/**
 * Attacks on the bridge (values that cross between a guest and its host), on an unmetered engine.
 *
 * After every attack the host's primordials are what they were, and another guest works.
 */
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { LIMITS, TestGuest } from '../../src/isolate/bridge/bridge.testkit.ts'
import { differenceOf } from '../../src/values/difference-of.testkit.ts'
import { DEFAULT_VALUE_LIMITS } from '../../src/values/limits.ts'
import { codeOf, expectCorruptionContained } from './heap-corruption.ts'

/** Names and values of what hangs on the prototypes that a forged key or setter could reach. */
function primordials(): string {
  const holders = [Object, Array, Map, Set, Error, RegExp, Date, Promise, Function, String, Number].flatMap(
    (f) => [f, f.prototype as object],
  )
  return holders
    .map(
      (holder) => Reflect.ownKeys(holder).map(String).join() + String(Object.getPrototypeOf(holder) === null),
    )
    .join('\n')
}

const before = primordials()
let neighbour: TestGuest
beforeAll(() => {
  neighbour = new TestGuest()
})
afterEach(() => {
  expect(primordials()).toBe(before)
  expect(neighbour.roundTrip({ alive: [1, new Map([[1, 2]])] })).toEqual({ alive: [1, new Map([[1, 2]])] })
})

/** Poisons everything that a guest can reach. `hit` collects what ran. */
const POISON = `(() => {
  const define = Object.defineProperty, ownNames = Object.getOwnPropertyNames, text = String, global = globalThis
  let hits = ''
  const note = (name) => function () { hits += name + ' '; throw 'poisoned' }
  const poison = (object, keys) => {
    for (let i = 0; i < keys.length; i++) {
      const trap = note(text(keys[i]))
      try { define(object, keys[i], {__proto__: null, get: trap, set: trap, configurable: true}) } catch {}
    }
  }
  const names = ['toJSON', 'then', 'get', 'set', 'value', 'writable', 'enumerable', 'configurable', 'constructor',
    '__proto__', 'size', 'valueOf', 'toString', 'name', 'message', 'stack', 'cause', 'next', 'done', 'return',
    'source', 'flags', 'exec', 'add', 'has', 'keys', 'values', 'entries', 'call', 'apply', 'bind', 'buffer', 'byteLength',
    'defineProperty', 'getPrototypeOf', 'from', 'of', 'resolve', 'parse', 'stringify', 'construct', 'ownKeys',
    Symbol.iterator, Symbol.species, Symbol.toPrimitive, Symbol.toStringTag, Symbol.hasInstance, Symbol.match]
  for (let i = 0; i < 40; i++) names[names.length] = text(i)
  const roots = [Map, Set, RegExp, Error, TypeError, Date, Promise, String, Number, Boolean, BigInt, Symbol,
    ArrayBuffer, Uint8Array, Float64Array, DataView, Object.getPrototypeOf(Uint8Array), Reflect, JSON, Array, Function, Object]
  const globals = ownNames(global)
  for (let i = 0; i < roots.length; i++) {
    const prototype = roots[i].prototype
    poison(roots[i], names)
    if (prototype) poison(prototype, names)
  }
  for (let i = 0; i < globals.length; i++) {
    try { delete global[globals[i]] } catch {}
    try { define(global, globals[i], {__proto__: null, value: note(globals[i]), configurable: true}) } catch {}
  }
  hits = ''
  define(global, 'hits', {__proto__: null, value: () => hits})
})()`

describe('a guest that replaced every global and poisoned every prototype', () => {
  it('cannot forge or disturb values in either direction, and none of its code runs', () => {
    const guest = new TestGuest()
    guest.cell(POISON)
    expect(guest.evaluate('typeof Map.groupBy + hits()')).toBe('undefined')
    const shared = { s: 1 }
    const holes: unknown[] = [1]
    holes[3] = shared
    const value = {
      text: 'x',
      list: [1, [2, { three: 3 }]],
      map: new Map<unknown, unknown>([
        [shared, [shared]],
        ['k', new Map()],
      ]),
      set: new Set([1, shared]),
      regexp: /a+/gi,
      // Not a TypeError: the poisoned `name` of its prototype is the guest's own to change.
      error: new Error('m', { cause: new Error('c') }),
      date: new Date(7),
      holes,
      bytes: new Uint8Array([1, 2]),
      floats: new Float64Array([1.5]),
      view: new DataView(new ArrayBuffer(4)),
      boxed: Object(5),
      big: 2n ** 70n,
      own: JSON.parse('{"__proto__": 1, "then": 2, "toJSON": 3, "constructor": 4}'),
    }
    const cyclic = { value, self: undefined as unknown }
    cyclic.self = cyclic
    expect(differenceOf(cyclic, guest.roundTrip(cyclic))).toBeUndefined()
    const failure = guest.writer.writeFailure({ code: 'denied', message: 'no', details: { a: 1 } })
    expect(guest.reader.readError(failure)).toMatchObject({ name: 'Error', message: 'no', code: 'denied' })
    expect(guest.reader.inspect(failure)).toContain("code: 'denied'")
    expect(guest.evaluate('hits()')).toBe('')
  })

  it('cannot reach the builder or its tables through what it receives', () => {
    const guest = new TestGuest()
    guest.cell(`(() => {
      globalThis.caught = []
      Array.prototype.__defineSetter__('0', function (v) { caught.push(v) })
      Object.prototype.__defineSetter__('a', function (v) { caught.push(v) })
      Map.prototype.set = Set.prototype.add = function (...args) { caught.push(args); return this }
      Object.defineProperty = Reflect.defineProperty = (...args) => { caught.push(args) }
    })()`)
    const cycle: unknown[] = [{ a: 1 }]
    cycle.push(cycle, new Map([[cycle, 1]]))
    expect(differenceOf(cycle, guest.roundTrip(cycle))).toBeUndefined()
    expect(guest.evaluate('caught')).toEqual([])
  })
})

describe('values that lie about themselves', () => {
  it.each([
    ['toJSON', '({toJSON() { return "forged" }, real: 1})', 'value_refused'],
    ['a getter', '({get real() { hit = 1; return "forged" }})', 'value_refused'],
    [
      'a Proxy',
      'new Proxy({real: 1}, {get() { hit = 1 }, ownKeys() { hit = 1; return [] }})',
      'value_refused',
    ],
    ['a Proxy of an array', 'new Proxy([1], {get() { hit = 1 }})', 'value_refused'],
    [
      'a Map with an own iterator',
      'Object.assign(new Map([[1, 2]]), {[Symbol.iterator]() { hit = 1 }, get() { hit = 1 }})',
      'nothing',
    ],
    [
      'a subclass of Array',
      'new (class extends Array { get length() { hit = 1; return 9 } })(1, 2)',
      'nothing',
    ],
    ['a subclass of Date', 'new (class extends Date { getTime() { hit = 1; return 0 } })(5)', 'nothing'],
    [
      'a species',
      '(() => { class B extends Uint8Array { static get [Symbol.species]() { hit = 1 } }; return new B(2) })()',
      'nothing',
    ],
    [
      'own keys on binary data',
      'Object.defineProperties(new Uint8Array(2), {length: {value: 2 ** 30}, buffer: {value: 1}, byteLength: {value: 9}})',
      'nothing',
    ],
  ])('%s has no effect', (_name, source, expected) => {
    const guest = new TestGuest()
    guest.cell('globalThis.hit = 0')
    expect(codeOf(() => guest.evaluate(`(${source})`))).toBe(expected)
    expect(guest.evaluate('hit')).toBe(0)
  })

  it('own keys named __proto__, constructor and prototype arrive as data', () => {
    const guest = new TestGuest()
    const value = guest.evaluate(
      '(() => { const o = JSON.parse(\'{"__proto__": {"polluted": 1}, "constructor": {"prototype": {"polluted": 2}}}\'); o.list = Object.assign([1], {["__proto__"]: 5}); return o })()',
    ) as Record<string, unknown>
    expect(Object.keys(value)).toEqual(['__proto__', 'constructor', 'list'])
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
    expect(Array.isArray(value.list)).toBe(true)
  })
})

describe('values that are too much', () => {
  const guest = new TestGuest()
  it.each([
    [
      '20,000 deep',
      '(() => { let o = []; for (let i = 0; i < 20000; i++) o = [o]; return o })()',
      'value_too_deep',
    ],
    [
      '20,000 deep through Maps and causes',
      '(() => { let o = {}; for (let i = 0; i < 20000; i++) o = i % 2 ? new Map([[o, 1]]) : new Error("e", {cause: o}); return o })()',
      'value_too_deep',
    ],
    ['200,000 wide', 'Array.from({length: 200000}, (_, i) => i)', 'nothing'],
    ['2,000,000 wide', 'new Array(2000000).fill(0)', 'value_too_large'],
    ['a 50 MB string', '"x".repeat(5e7)', 'value_too_large'],
    ['a 50 MB rope', '"x".repeat(2.5e7) + "y".repeat(2.5e7)', 'value_too_large'],
    ['a 1 MB string 100 times', 'new Array(100).fill("x".repeat(1e6))', 'value_too_large'],
    [
      'a 64 MB buffer behind a view of one byte',
      'new Uint8Array(new ArrayBuffer(1 << 26), 5, 1)',
      'value_too_large',
    ],
    ['length 2^32-1', '(a => { a.length = 2 ** 32 - 1; return a })([])', 'value_refused'],
    ['length 2^31', '(a => { a[2 ** 31 - 1] = 1; return a })([])', 'value_refused'],
    [
      'a shared graph of 40 levels',
      '(() => { let o = {}; for (let i = 0; i < 40; i++) o = {a: o, b: o}; return o })()',
      'nothing',
    ],
    [
      'a shared graph of 400 levels',
      '(() => { let o = {}; for (let i = 0; i < 400; i++) o = [o, o, o]; return o })()',
      'nothing',
    ],
    [
      '7,000 objects',
      'Array.from({length: 7000}, (_, i) => ({id: i, name: "n" + i, tags: ["a"]}))',
      'nothing',
    ],
  ])('%s', (_name, source, expected) => {
    const cell = guest.cell(source)
    const start = performance.now()
    expect(codeOf(() => guest.reader.read(cell, DEFAULT_VALUE_LIMITS, 'args'))).toBe(expected)
    // Generous: a loaded machine. Without the bounds these take minutes or all memory.
    expect(performance.now() - start).toBeLessThan(5000)
    guest.exports.QTS_FreeValuePointer(guest.context, cell)
  })

  it('an error of 40 MB is clipped before it is copied', () => {
    const cell = guest.cell('new Error("x".repeat(4e7), {cause: new Error("y".repeat(4e7))})')
    const error = guest.reader.readError(cell)
    expect(JSON.stringify(error).length).toBeLessThan(64_000)
    expect(guest.reader.inspect(cell).length).toBeLessThan(64_000)
  })

  it('keys of a Map that all collide in the host are refused, ordinary ones are not', () => {
    // Inverts nothing: BigInts that differ only above 64 bits hash alike in V8, and so do chosen doubles.
    expect(
      codeOf(() => guest.evaluate('new Map(Array.from({length: 10000}, (_, i) => [BigInt(i) << 64n, 1]))')),
    ).toBe('value_refused')
    expect(
      codeOf(() => guest.evaluate('new Set(Array.from({length: 10000}, (_, i) => i * 1e6 + 0.5))')),
    ).toBe('value_refused')
    expect(
      codeOf(() =>
        guest.evaluate('new Map(Array.from({length: 1000}, (_, i) => [(BigInt(i) << 80000n) + 1n, 1]))'),
      ),
    ).toBe('value_refused')
    expect(
      codeOf(() =>
        guest.evaluate(
          'Array.from({length: 200}, () => new Set(Array.from({length: 2000}, (_, i) => i * 1e6 + 0.5)))',
        ),
      ),
    ).toBe('value_refused')
    expect(codeOf(() => guest.evaluate('new Map(Array.from({length: 50000}, (_, i) => [i, 1]))'))).toBe(
      'nothing',
    )
    expect(codeOf(() => guest.evaluate('new Set(Array.from({length: 50000}, (_, i) => "k" + i))'))).toBe(
      'nothing',
    )
    expect(codeOf(() => guest.evaluate('new Set(Array.from({length: 3000}, (_, i) => i * 1e6 + 0.5))'))).toBe(
      'nothing',
    )
  })

  it('what makes built-ins of the host slow is refused, alone and in sum', () => {
    const sources: readonly (readonly [source: string, code: string])[] = [
      ['new RegExp("\\\\p{RGI_Emoji}".repeat(80), "v")', 'value_refused'],
      ['Array.from({length: 25}, (_, i) => new RegExp("\\\\p{L}".repeat(200) + i, "iu"))', 'value_refused'],
      ['new RegExp("a".repeat(70000))', 'value_too_large'],
      ['Array.from({length: 1000}, (_, i) => new RegExp("[a-z]+" + i, "gi"))', 'nothing'],
      ['Array.from({length: 20000}, () => new Error())', 'value_refused'],
    ]
    for (const [source, code] of sources) {
      const cell = guest.cell(source)
      expect([source, codeOf(() => guest.reader.read(cell, DEFAULT_VALUE_LIMITS))]).toEqual([source, code])
      guest.exports.QTS_FreeValuePointer(guest.context, cell)
    }
  })
})

describe('a host whose stack is nearly used up', () => {
  it('reads deep values all the same', () => {
    const guest = new TestGuest()
    const cell = guest.cell('(() => { let o = []; for (let i = 0; i < 1900; i++) o = [o]; return o })()')
    let used = 0
    let left = Number.POSITIVE_INFINITY
    const descend = (): unknown => {
      if (left === 0) return guest.reader.read(cell, LIMITS)
      used += 1
      left -= 1
      return descend()
    }
    // Once to the end of the host's stack, to know where it is; then nearly there.
    expect(descend).toThrow(RangeError)
    left = Math.floor(used * 0.9)
    expect(descend()).toHaveLength(1)
  })
})

describe('a corrupted heap', () => {
  // Ten times as many rounds in bridge.long.test.ts.
  it.each([
    ['flipped bits', 1_000],
    ['foreign words', 500],
  ] as const)('survives rounds of corruption: %s, %d times', (kind, rounds) => {
    expectCorruptionContained(kind, rounds)
  })

  it('ends on lists and ropes that go in circles, and on counts of four billion', () => {
    const limits = { bytes: 1_000_000, nodes: 100_000, depth: 50 }
    const guest = new TestGuest()
    const words = new Uint32Array(guest.memory.buffer)
    const at = (source: string): [cell: number, object: number] => {
      const cell = guest.cell(source)
      return [cell, (words[cell >>> 2] as number) >>> 2]
    }
    const [map, mapWord] = at('new Map([[1, 1], [2, 2]])')
    const state = (words[mapWord + 8] as number) >>> 2
    const first = (words[state + 2] as number) >>> 2
    words[first + 1] = first * 4
    expect(codeOf(() => guest.reader.read(map, limits))).toBe('corrupted')
    words[state + 3] = 0xffff_ffff
    expect(codeOf(() => guest.reader.read(map, limits))).toBe('value_too_large')

    const [rope, ropeWord] = at('"a".repeat(9000) + "b".repeat(9000)')
    words[ropeWord + 4] = ropeWord * 4
    words[ropeWord + 5] = -6 >>> 0
    expect(codeOf(() => guest.reader.read(rope, limits))).toBe('corrupted')

    const [object, objectWord] = at('({a: 1})')
    const shape = (words[objectWord + 5] as number) >>> 2
    words[shape + 8] = 0xffff_ffff
    expect(codeOf(() => guest.reader.read(object, limits))).toBe('corrupted')

    const [array, arrayWord] = at('[1, 2, 3]')
    words[arrayWord + 10] = 0x7fff_ffff
    expect(codeOf(() => guest.reader.read(array, limits))).toBe('corrupted')

    const [buffer, bufferWord] = at('new ArrayBuffer(8)')
    words[((words[bufferWord + 8] as number) >>> 2) + 3] = 0xffff_fff0
    expect(codeOf(() => guest.reader.read(buffer, limits))).toBe('corrupted')

    const [view, viewWord] = at('new Uint8Array(8)')
    words[((words[viewWord + 8] as number) >>> 2) + 3] = viewWord * 4
    expect(codeOf(() => guest.reader.read(view, limits))).toBe('corrupted')

    const boxes = Array.from({ length: 200 }, () => at('Object(1)'))
    boxes.forEach(([, boxWord], i) => {
      words[boxWord + 8] = (boxes[(i + 1) % boxes.length]?.[1] ?? 0) * 4
      words[boxWord + 9] = -1 >>> 0
    })
    expect(codeOf(() => guest.reader.read(boxes[0]?.[0] ?? 0, limits))).toBe('corrupted')
    expect(guest.reader.inspect(boxes[0]?.[0] ?? 0).length).toBeLessThan(200)

    const [error, errorWord] = at('new Error("m")')
    const errorShape = (words[errorWord + 5] as number) >>> 2
    words[errorShape + 11] = errorWord * 4
    expect(codeOf(() => guest.reader.read(error, limits))).toBe('nothing')
  })

  it('refuses value pointers that lead nowhere', () => {
    const guest = new TestGuest()
    for (const pointer of [0, 4, 7, -8, 0xffff_fff8, 2 ** 40, Number.NaN, 0.5]) {
      expect(codeOf(() => guest.reader.read(pointer, LIMITS))).toBe('corrupted')
      expect(codeOf(() => guest.reader.readError(pointer))).toBe('corrupted')
      expect(codeOf(() => guest.reader.inspectAll(pointer, 3))).toBe('corrupted')
      expect(codeOf(() => guest.reader.isFunction(pointer))).toBe('corrupted')
    }
    expect(codeOf(() => guest.reader.inspectAll(guest.undefined, 2 ** 30))).toBe('corrupted')
    expect(codeOf(() => guest.reader.readErrorBits(2n ** 64n - 1n))).toBe('corrupted')
  })

  it('a writer checks the pointers that the engine returns', () => {
    const guest = new TestGuest()
    const exports = guest.exports as unknown as Record<string, unknown>
    for (const name of ['malloc', 'QTS_bjson_decode', 'QTS_NewArrayBuffer', 'QTS_NewFloat64', 'QTS_Call']) {
      const real = exports[name]
      for (const lie of [1, 12, 0x7fff_fff8, -8, 0]) {
        exports[name] = () => lie
        const code = codeOf(() =>
          guest.writer.write(name === 'QTS_NewFloat64' ? 1 : new Map([[1, 2]]), LIMITS),
        )
        expect(['corrupted', 'value_too_large']).toContain(code)
      }
      exports[name] = real
    }
    expect(guest.roundTrip(new Map([[1, 2]]))).toEqual(new Map([[1, 2]]))
  })
})

describe('calls between guest and host', () => {
  it('a view held by the host over a call in which the memory grows stays correct', () => {
    const guest = new TestGuest()
    guest.addHostFunction('lookup', 1)
    guest.onCall = (count, values) => {
      const args = guest.reader.read(values, LIMITS, 'args') as { bytes: Uint8Array }
      expect(count).toBe(1)
      // Growing now detaches every view that the bridge holds.
      guest.memory.grow(64)
      return guest.writer.write({ sum: args.bytes.reduce((a, b) => a + b, 0) }, LIMITS)
    }
    expect(guest.evaluate('[1, 2, 3].map((n) => lookup({bytes: new Uint8Array(1000).fill(n)}).sum)')).toEqual(
      [1000, 2000, 3000],
    )
  })

  it('a host function returns 7,000 objects while a promise is pending', () => {
    const guest = new TestGuest()
    guest.addHostFunction('rows', 1)
    const rows = Array.from({ length: 7000 }, (_, id) => ({ id, name: `n${id}`, tags: ['a', 'b'] }))
    guest.onCall = () => guest.writer.write(rows, LIMITS)
    guest.cell(
      'globalThis.p = new Promise((r) => { globalThis.resolve = r }); p.then((v) => { globalThis.got = v })',
    )
    expect(
      guest.evaluate('(() => { const all = rows(); resolve(all.length); return all.at(-1) })()'),
    ).toEqual(rows.at(-1))
    const cell = guest.exports.QTS_ExecutePendingJob(guest.runtime, -1, guest.scratch)
    guest.exports.QTS_FreeValuePointer(guest.context, cell)
    expect(guest.evaluate('globalThis.got')).toBe(7000)
  })
})
