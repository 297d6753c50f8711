import { describe, expect, it } from 'vitest'
import { CaissonError } from '../../base/errors.ts'
import { differenceOf } from '../../values/difference-of.testkit.ts'
import { LIMITS, TestGuest } from './bridge.testkit.ts'

const guest = new TestGuest()
/** `[1, , 3]` */
const withHole: number[] = []
withHole[0] = 1
withHole[2] = 3

function refusal(value: unknown, limits = LIMITS, target = guest): string {
  try {
    target.writer.write(value, limits, 'result')
  } catch (error) {
    if (CaissonError.is(error)) return `${error.code}: ${error.message}`
    throw error
  }
  return 'nothing'
}

/** What `expression` over the global `v` gives, with `v` set to `value`. */
function seen(value: unknown, expression: string): unknown {
  const cell = guest.writer.write(value, LIMITS)
  guest.setGlobal('v', cell)
  guest.exports.QTS_FreeValuePointer(guest.context, cell)
  return guest.evaluate(expression)
}

/** Objects that the engine counts as allocated: `malloc_count` of the runtime. */
function allocations(target: TestGuest): number {
  return new Uint32Array(target.memory.buffer)[(target.runtime + 16) >>> 2] ?? 0
}

describe('ValueWriter.write', () => {
  it('makes what the guest itself would make', () => {
    expect(seen({ a: [1, 'x', null] }, 'JSON.stringify(v)')).toBe('{"a":[1,"x",null]}')
    expect(
      seen(new Map([[{ k: 1 }, 2]]), 'v instanceof Map && [...v.keys()][0].k + [...v.values()][0]'),
    ).toBe(3)
    expect(seen(new Set([1, 1, 2]), 'v.size')).toBe(2)
    expect(seen(/a(b)/gi, 'v.exec("xAB")[1] + v.lastIndex')).toBe('B3')
    expect(seen(new Date(5), 'v.getTime()')).toBe(5)
    expect(seen(new Float32Array([1.5]), 'v[0] + v.buffer.byteLength')).toBe(5.5)
    expect(seen(new DataView(new ArrayBuffer(2)), 'v.getInt16(0) + v.byteLength')).toBe(2)
    expect(
      seen(new TypeError('m', { cause: 1 }), '[v instanceof TypeError, v.message, v.cause, v.stack]'),
    ).toEqual([true, 'm', 1, ''])
    expect(seen(withHole, '[1 in v, v.length]')).toEqual([false, 3])
    expect(seen(Object(1n), 'typeof v + typeof v.valueOf()')).toBe('objectbigint')
    expect(seen(Object.assign([1], { k: 2 }), 'v.k + v.length')).toBe(3)
    expect(seen(JSON.parse('{"__proto__": 5}'), 'Object.hasOwn(v, "__proto__") && v.__proto__')).toBe(5)
    expect(
      seen(
        Object.create(null, { a: { value: 1, enumerable: true } }),
        'Object.getPrototypeOf(v) === Object.prototype',
      ),
    ).toBe(true)
  })

  it('sends class instances as their data and drops what structured clone drops', () => {
    class Price {
      amount = 5
      #secret = 1
      get double(): number {
        return this.amount * 2 * this.#secret
      }
    }
    expect(seen(new Price(), 'JSON.stringify(v)')).toBe('{"amount":5}')
    expect(seen({ [Symbol('s')]: 1, a: 2 }, 'JSON.stringify(v)')).toBe('{"a":2}')
  })

  it('keeps values at the edge of the native decoder: depth, width, size', () => {
    for (const depth of [31, 32, 33, 64, 500, 1999]) {
      let value: unknown[] = []
      for (let i = 0; i < depth; i += 1) value = [value]
      expect(differenceOf(value, guest.roundTrip(value))).toBeUndefined()
    }
    const wide = Array.from({ length: 200_000 }, (_, i) => i)
    expect(differenceOf(wide, guest.roundTrip(wide))).toBeUndefined()
    const long = 'x'.repeat(5_000_000)
    expect(guest.roundTrip(long)).toBe(long)
    expect(guest.roundTrip('\u65e5'.repeat(100_000))).toBe('\u65e5'.repeat(100_000))
    expect(guest.roundTrip(2n ** 1_000_000n)).toBe(2n ** 1_000_000n)
    const keyed = Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [`key${i}`, i]))
    expect(differenceOf(keyed, guest.roundTrip(keyed))).toBeUndefined()
  })

  it('sends of a view that does not show its whole buffer only what it shows', () => {
    const pool = new Uint8Array(1000).fill(9)
    expect(seen(pool.subarray(10, 12), '[v.length, v.buffer.byteLength]')).toEqual([2, 2])
  })

  it.each([
    [() => 1, 'result is a function'],
    [{ a: [1, { f() {} }] }, 'result.a[1].f is a function'],
    [[Symbol('s')], 'result[0] is a symbol'],
    [
      Object.defineProperty({}, 'g', { get: () => expect.fail('a getter ran'), enumerable: true }),
      'result.g is an accessor',
    ],
    [Object.defineProperty([1, 2], 1, { get: () => expect.fail('a getter ran') }), 'is an accessor'],
    [{ p: Promise.resolve() }, 'result.p is an object of the host'],
    [new WeakMap(), 'result is an object of the host'],
    [new Map([[1, { w: new WeakSet() }]]), 'result<value of entry 0>.w is an object of the host'],
    [new Error('e', { cause: [() => 1] }), 'result.cause[0] is a function'],
    [{ big: 2n ** 2_000_000n }, 'A BigInt of'],
    [2n ** 2_000_000n, 'A BigInt of'],
  ])('refuses before it writes: case %#', (value, message) => {
    const before = [allocations(guest), guest.live]
    expect(refusal(value)).toContain(message)
    expect([allocations(guest), guest.live]).toEqual(before)
  })

  it('refuses a Proxy whose traps throw, and does not let the exception out', () => {
    const proxy = new Proxy(
      {},
      {
        ownKeys: () => {
          throw new RangeError('trap')
        },
      },
    )
    expect(refusal([proxy])).toContain('value_refused: result[0]')
  })

  it('names the RegExp that the guest cannot compile, and frees the rest', () => {
    const value = { ok: /a/, bad: new Map([[1, [/b/, new RegExp('()'.repeat(300))]]]) }
    refusal(value)
    const before = allocations(guest)
    expect(refusal(value)).toBe(
      'value_refused: result.bad<value of entry 0>[1] is a RegExp that the guest cannot compile.',
    )
    expect(allocations(guest)).toBe(before)
  })

  it('holds the limits on bytes, nodes and depth', () => {
    const small = { bytes: 100, nodes: 10, depth: 3 }
    expect(refusal('x'.repeat(101), small)).toMatch(/^value_too_large/)
    expect(refusal(new Uint8Array(101), small)).toMatch(/^value_too_large/)
    expect(refusal(Array(11).fill(0), small)).toMatch(/^value_too_large/)
    expect(refusal([[[[]]]], small)).toMatch(/^value_too_deep: result\[0\]\[0\]\[0\]/)
    expect(refusal([[[]]], small)).toBe('nothing')
    expect(refusal(new Array(2 ** 32 - 1), small)).toMatch(/^value_too_large/)
  })

  it('leaks nothing over many writes and failures', () => {
    const values: unknown[] = [
      1,
      'text',
      { a: [1, { b: 2 }] },
      new Map([[1, { a: /x/ }]]),
      withHole,
      new Error('e'),
    ]
    const bad: unknown[] = [
      { f() {} },
      new Map([[1, Symbol()]]),
      'x'.repeat(2000),
      [new RegExp('()'.repeat(300))],
    ]
    const round = (): void => {
      for (const value of values)
        guest.exports.QTS_FreeValuePointer(guest.context, guest.writer.write(value, LIMITS))
      for (const value of bad) refusal(value, { bytes: 1000, nodes: 100, depth: 9 })
    }
    round()
    const before = [allocations(guest), guest.memory.buffer.byteLength]
    for (let i = 0; i < 500; i += 1) round()
    expect([allocations(guest), guest.memory.buffer.byteLength]).toEqual(before)
  })

  it('says so when the guest has no memory left, and the guest lives on', () => {
    const small = new TestGuest(256)
    for (const value of [
      'x'.repeat(2 ** 24),
      new Uint8Array(2 ** 24),
      Array(2 ** 20).fill(1.5),
      new Map([[1, 'y'.repeat(2 ** 24)]]),
    ]) {
      expect(refusal(value, { bytes: 2 ** 26, nodes: 2 ** 21, depth: 9 }, small)).toBe(
        'value_too_large: The guest has no memory left to take the value.',
      )
      expect(small.roundTrip({ still: ['here'] })).toEqual({ still: ['here'] })
    }
  })
})

describe('ValueWriter.writeFailure', () => {
  it('makes an Error with code and details, and no stack of its own yet', () => {
    const cell = guest.writer.writeFailure({
      code: 'rate_limited',
      message: 'later',
      name: 'CallError',
      details: { retryAfterMs: 1200, ['__proto__']: 'data', ok: true },
    })
    guest.setGlobal('v', cell)
    expect(
      guest.evaluate(
        '[v instanceof Error, v.name, v.message, v.code, v.details.retryAfterMs, v.details.ok, v.stack]',
      ),
    ).toEqual([true, 'CallError', 'later', 'rate_limited', 1200, true, undefined])
    expect(guest.reader.readError(cell)).toEqual({
      name: 'CallError',
      message: 'later',
      code: 'rate_limited',
    })
  })
})
