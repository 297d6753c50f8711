import { runInThisContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { CaissonError } from '../../base/errors.ts'
import { differenceOf } from '../../values/difference-of.testkit.ts'
import { DEFAULT_VALUE_LIMITS } from '../../values/limits.ts'
import { LIMITS, TestGuest } from './bridge.testkit.ts'

const guest = new TestGuest()

/** Code and message of the refusal to read `source`. */
function refusal(source: string, limits = LIMITS): string {
  try {
    guest.evaluate(source, limits, 'args')
  } catch (error) {
    if (CaissonError.is(error)) return `${error.code}: ${error.message}`
    throw error
  }
  return 'nothing'
}

describe('HeapReader.read', () => {
  it.each([
    '[1, -1, 0, -0, 1.5, NaN, Infinity, 2**31, -(2**31), 2**53, 5e-324]',
    '["", "a", "abc", "a\\0b", "\\u00e9\\u0080", "\\ud800", "\\u65e5\\u672c", "x".repeat(25), "y".repeat(5000)]',
    '"ab".repeat(20000) + "\\u65e5".repeat(9000) + "tail"',
    '[0n, -1n, 2n**31n, -(2n**31n), 2n**64n - 1n, -(2n**64n), 10n**100n]',
    '[null, undefined, true, false]',
    '({a: 1, b: {c: [1, {d: 2}]}, "odd key": 3, "": 4, 10: 5, 2: 6, "-1": 7, "01": 8})',
    '({["__proto__"]: 1, constructor: 2, prototype: {}, toString: 3, hasOwnProperty: 4})',
    'Object.create(null)',
    'Object.create({inherited: 1}, {own: {value: 2, enumerable: true}, hidden: {value: 3}})',
    'Object.defineProperty({a: 1}, Symbol("s"), {enumerable: true, get() { throw 1 }})',
    'new (class A { #secret = 1; x = 2; get y() { return 3 } method() {} static z = 4 })',
    'Object.freeze({a: Object.seal([1])})',
    '[1, , 3]',
    'new Array(7)',
    '(() => { const a = [1, 2, 3]; delete a[0]; a.extra = 4; a[-1] = 5; return a })()',
    '(() => { const a = []; a[100] = 1; a[50] = 2; return a })()',
    '(() => { const a = [1, 2]; Object.defineProperty(a, 0, {enumerable: false}); return a })()',
    'Object.assign([1, 2], {k: "v", length: 2})',
    '(() => { const o = {}; o.self = o; o.list = [o, o]; return o })()',
    '(() => { const s = {x: 1}; return [s, {s}, new Map([[s, s]]), new Set([s])] })()',
    'new Map([[1, {a: 1}], [{k: 1}, "v"], [NaN, -0], ["n", new Map()]])',
    '(() => { const m = new Map(); m.set(m, m); return m })()',
    '(() => { const m = new Map([[1, 1], [2, 2], [3, 3]]); m.delete(2); m.set(2, 4); return m })()',
    '(() => { const s = new Set([1, 2, 3, "x", 2n]); s.delete(1); return s })()',
    '[new Date(0), new Date(1e15), new Date(NaN), new Date(8.64e15)]',
    '[/a/, /[/]\\//gi, new RegExp("", "y"), /(?<n>x)\\u{1f600}/su, /[\\p{L}--[a-z]]/v, /x/d]',
    '[Object(1), Object("s"), Object(true), Object(10n), Object("\\ud800")]',
    '[new ArrayBuffer(0), new Uint8Array([1, 2, 3]).buffer]',
    '(() => { const b = new ArrayBuffer(16); return [new Uint8Array(b, 1, 3), new Float64Array(b), new DataView(b, 2)] })()',
    '[new Int8Array([-1]), new Float32Array([1.5]), new BigInt64Array([-1n]), new Uint8ClampedArray([300]), new Float64Array([NaN])]',
    'new Uint8Array(new ArrayBuffer(1000)).subarray(10, 20)',
    '[new Error("e"), new TypeError("t", {cause: {a: 1}}), new RangeError(), new Error("")]',
    '[JSON, Math, Reflect]',
  ])('agrees with structured clone on %s', (source) => {
    const expected: unknown = structuredClone(runInThisContext(`(${source})`))
    expect(differenceOf(expected, guest.evaluate(`(${source})`))).toBeUndefined()
  })

  it('reads arguments objects as plain objects with index keys', () => {
    expect(guest.evaluate('(function (a) { a = 9; return arguments })(1, {b: 2})')).toEqual({
      0: 9,
      1: { b: 2 },
    })
    expect(guest.evaluate('(function () { "use strict"; return arguments })(1)')).toEqual({ 0: 1 })
  })

  it('keeps what structured clone drops of an error: its own name and its stack', () => {
    const error = guest.evaluate(
      '(()=>{ class Odd extends Error { get name() { return "lie" } }; const e = new Odd("m"); Object.defineProperty(e, "name", {value: "Odd"}); return e })()',
    ) as Error
    expect([error.name, error.message]).toEqual(['Odd', 'm'])
    expect(error.stack).toMatch(/^ {4}at .*test\.js:1:/)
  })

  it.each([
    ['() => 1', 'args is a function'],
    ['class A {}', 'args is a function'],
    ['async function* () {}', 'args is a function'],
    ['Math.max.bind(null)', 'args is a function'],
    ['({items: [0, 1, 2, {fn() {}}]})', 'args.items[3].fn is a function'],
    ['[Symbol("x")]', 'args[0] is a symbol'],
    ['Object(Symbol())', 'args is a Symbol'],
    ['({a: new Proxy({}, {})})', 'args.a is a Proxy'],
    ['new Proxy(() => 1, {})', 'args is a Proxy'],
    ['[Promise.resolve()]', 'args[0] is a Promise'],
    ['new WeakMap', 'args is a WeakMap'],
    ['new WeakSet', 'args is a WeakSet'],
    ['new WeakRef({})', 'args is a WeakRef'],
    ['(function* () {})()', 'args is a Generator'],
    ['[].values()', 'args is an Array Iterator'],
    ['globalThis', 'args is a global object'],
    ['({get a() { globalThis.ran = 1; return 1 }})', 'args.a is an accessor property'],
    ['({set a(v) {}})', 'args.a is an accessor property'],
    ['Object.defineProperty([1, 2], 1, {get() { globalThis.ran = 1 }})', 'args[1] is an accessor property'],
    ['new Map([[{k: () => 1}, 1]])', 'args<key of entry 0>.k is a function'],
    ['new Map([[1, 1], [2, [Symbol()]]])', 'args<value of entry 1>[0] is a symbol'],
    ['new Set([1, () => 1])', 'args<entry 1> is a function'],
    ['new Error("e", {cause: {f() {}}})', 'args.cause.f is a function'],
    ['({"odd key": {"\\u202e": Symbol()}})', 'args["odd key"]["\\u202e"] is a symbol'],
    ['({b: new ArrayBuffer(1, {maxByteLength: 2})})', 'args.b is a resizable ArrayBuffer'],
    ['new Uint8Array(new ArrayBuffer(8, {maxByteLength: 16}))', 'args is a resizable ArrayBuffer'],
    ['new SharedArrayBuffer(1)', 'args is a SharedArrayBuffer'],
    ['new Uint8Array(new SharedArrayBuffer(1))', 'args is a SharedArrayBuffer'],
    ['(b => (b.transfer(), b))(new ArrayBuffer(1))', 'args is a detached ArrayBuffer'],
    ['(a => (a.buffer.transfer(), a))(new Uint8Array(4))', 'args is a detached ArrayBuffer'],
    ['new Float16Array(1)', 'args is a Float16Array'],
    [
      '(a => { a.length = 2 ** 32 - 1; return {a} })([1])',
      'args.a is a sparse array (1 elements, length 4294967295)',
    ],
    ['(a => { a[2 ** 31] = 1; return a })([])', 'args is a sparse array'],
    [
      '(r => ({r}))(new RegExp("\\\\p{L}".repeat(5000), "u"))',
      'args.r is a RegExp that costs too much to compile',
    ],
    ['/(?i:a)/', 'args is a RegExp that this host cannot compile'],
  ])('refuses %s with its path', (source, message) => {
    expect(refusal(`(${source})`)).toContain(`value_refused: ${message}`)
    expect(guest.evaluate('globalThis.ran')).toBeUndefined()
  })

  it('charges bytes, nodes and depth before it copies', () => {
    const small = { bytes: 1000, nodes: 50, depth: 5 }
    expect(refusal('"x".repeat(1001)', small)).toMatch(/^value_too_large: .*1000/)
    expect(refusal('"x".repeat(9000) + "y".repeat(9000)', small)).toMatch(/^value_too_large/)
    expect(refusal('new Uint8Array(1001)', small)).toMatch(/^value_too_large/)
    expect(refusal('new Array(50).fill(0)', small)).toMatch(/^value_too_large: .*50/)
    expect(refusal('[[[[[[]]]]]]', small)).toBe(
      'value_too_deep: args[0][0][0][0][0] is nested deeper than the limit of 5.',
    )
    expect(refusal('[[[[[]]]]]', small)).toBe('nothing')
    expect(refusal('2n ** 9000n', small)).toMatch(/^value_too_large/)
    expect(refusal('({["k".repeat(2000)]: 1})', small)).toMatch(/^value_too_large/)
  })

  it('counts a shared object once: a graph that is exponential as a tree stays small', () => {
    const source = '(() => { let o = {}; for (let i = 0; i < 40; i++) o = [o, o]; return o })()'
    const value = guest.evaluate(source) as unknown[]
    expect(value[0]).toBe(value[1])
    expect(guest.reader.lastBytes).toBe(41 * 8 + 40 * 8)
  })

  it('takes fresh views after the memory grew', () => {
    const small = new TestGuest()
    const before = small.evaluate('[1]')
    small.cell('globalThis.big = new Uint8Array(64 * 1024 * 1024).fill(7)')
    expect([
      before,
      (small.evaluate('globalThis.big', { ...LIMITS, bytes: 2 ** 27 }) as Uint8Array)[9],
    ]).toEqual([[1], 7])
  })

  it('interns by content: a reused atom never reads as the old name', () => {
    for (let i = 0; i < 1000; i += 1) {
      const key = `k${(i * 7919) % 300}`
      expect(guest.evaluate(`({${key}: "${key}v"})`)).toEqual({ [key]: `${key}v` })
    }
  })

  it('reads with the default limits what a host does not think about', () => {
    const rows = guest.evaluate(
      'Array.from({length: 7000}, (_, i) => ({id: i, tags: ["a", "b"]}))',
      DEFAULT_VALUE_LIMITS,
    )
    expect(rows).toHaveLength(7000)
  })
})

describe('HeapReader.isFunction', () => {
  it('knows what can be called, Proxies included', () => {
    const callable = (source: string): boolean => guest.reader.isFunction(guest.cell(source))
    expect(
      ['()=>1', 'async()=>1', 'Math.max', 'class{}', 'Math.max.bind()', 'new Proxy(()=>1,{})'].map((s) =>
        callable(`(${s})`),
      ),
    ).toEqual(Array(6).fill(true))
    expect(
      ['1', '({})', 'new Proxy({},{})', 'undefined', 'Promise.resolve()'].map((s) => callable(`(${s})`)),
    ).toEqual(Array(5).fill(false))
  })
})

describe('HeapReader.readError', () => {
  const errorOf = (source: string) => guest.reader.readError(guest.cell(`(${source})`))

  it('gives name, message, code, stack, position and causes', () => {
    const error = errorOf(
      '(()=>{ try { null.x } catch (e) { e.code = "E_CODE"; e.cause = new RangeError("why", {cause: "text"}); return e } })()',
    )
    expect(error).toMatchObject({
      name: 'TypeError',
      code: 'E_CODE',
      position: { file: 'test.js', line: 1 },
      cause: { name: 'RangeError', message: 'why', cause: { name: 'Error', message: 'text' } },
    })
    expect(error.message).toContain('null')
  })

  it('shows what else can be thrown', () => {
    expect(errorOf('"text"')).toEqual({ name: 'Error', message: 'text' })
    expect(errorOf('42')).toEqual({ name: 'Error', message: '42' })
    expect(errorOf('undefined')).toEqual({ name: 'Error', message: 'undefined' })
    expect(errorOf('{a: 1}')).toEqual({ name: 'Error', message: '{ a: 1 }' })
    expect(errorOf('{name: "Odd", message: "m"}')).toMatchObject({ name: 'Odd', message: 'm' })
    expect(errorOf('() => 1')).toEqual({ name: 'Error', message: '[Function (anonymous)]' })
  })

  it('runs nothing and stays small, whatever the error is', () => {
    const error = errorOf(`(()=>{
      class Trap extends Error { get name() { globalThis.ran = 1 } get code() { globalThis.ran = 1 } }
      const e = new Trap("x".repeat(4e7)); Object.defineProperty(e, "stack", {get() { globalThis.ran = 1 }})
      let c = e; for (let i = 0; i < 1000; i++) { c.cause = new Error("y".repeat(9000) + i); c = c.cause }
      c.cause = e; return e })()`)
    expect(error.name).toBe('Error')
    expect(JSON.stringify(error).length).toBeLessThan(100_000)
    expect(guest.evaluate('globalThis.ran')).toBeUndefined()
  })
})

describe('HeapReader.inspect', () => {
  const shown = (source: string): string => guest.reader.inspect(guest.cell(`(${source})`))

  it.each([
    ['"text"', 'text'],
    ['["it\'s\\n"]', "[ 'it\\'s\\n' ]"],
    ['[1, -0, 10n, null, undefined, true]', '[ 1, -0, 10n, null, undefined, true ]'],
    ['({a: {b: [1, {c: 2}]}, "odd key": 1})', "{ a: { b: [ 1, { c: 2 } ] }, 'odd key': 1 }"],
    ['new (class Foo { x = 1 })', 'Foo { x: 1 }'],
    ['Object.create(null)', '[Object: null prototype] {}'],
    ['[1, , 3]', '[ 1, <1 empty item>, 3 ]'],
    ['new Array(3)', '[ <3 empty items> ]'],
    ['Object.assign([1], {k: 2})', '[ 1, k: 2 ]'],
    ['new Map([["a", {b: 1}]])', "Map(1) { 'a' => { b: 1 } }"],
    ['new Set([1, "a"])', "Set(2) { 1, 'a' }"],
    [
      '({get a() { return 1 }, set b(v) {}, get c() { return 1 }, set c(v) {}})',
      '{ a: [Getter], b: [Setter], c: [Getter/Setter] }',
    ],
    ['(() => { const o = {}; o.o = o; return o })()', '{ o: [Circular] }'],
    ['Symbol("s")', 'Symbol(s)'],
    ['function named() {}', '[Function: named]'],
    ['new Date(0)', '1970-01-01T00:00:00.000Z'],
    ['new Date(NaN)', 'Invalid Date'],
    ['/a+/gi', '/a+/gi'],
    ['new Uint8Array([1, 2])', 'Uint8Array(2) [ 1, 2 ]'],
    ['[Object(1), Object("s")]', "[ [Number: 1], [String: 's'] ]"],
    ['[new TypeError("t")]', '[ [TypeError: t] ]'],
    ['new Proxy({}, {get() { globalThis.ran = 1 }})', '[Proxy]'],
  ])('shows %s', (source, expected) => {
    expect(shown(source)).toBe(expected)
    expect(guest.evaluate('globalThis.ran')).toBeUndefined()
  })

  it('is bounded in length, depth and entries', () => {
    const wide = shown('Array.from({length: 1e4}, (_, i) => ({i, s: "x".repeat(100)}))')
    expect(wide.length).toBeLessThan(60_000)
    expect(wide).toContain('more items')
    expect(shown('"x".repeat(4e7)').length).toBeLessThan(20_000)
    expect(shown('(() => { let o = {}; for (let i = 0; i < 1e4; i++) o = {o}; return o })()')).toContain(
      '[Object]',
    )
    expect(
      shown(
        'Array.from({length: 60}, () => Array.from({length: 60}, () => Array.from({length: 60}, () => 1)))',
      ).length,
    ).toBeLessThan(200_000)
    expect(shown('2n ** 100000n')).toContain('BigInt')
  })
})
