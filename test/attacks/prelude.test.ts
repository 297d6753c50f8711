/**
 * Attacks on what guests find beside the language: a guest that overwrote everything breaks its own library at worst,
 * never a call, a value, a timer or the console; and host functions that are called with anything end that guest only.
 */
import { afterAll, describe, expect, it } from 'vitest'
import { CaissonError } from '../../src/base/errors.ts'
import { openRuntime } from '../../src/entry/node.ts'
import { FIRST_CAPABILITY } from '../../src/isolate/host-functions.ts'
import { HostServices } from '../../src/isolate/host-services.ts'
import { openPool, startOf } from '../../src/isolate/isolate.testkit.ts'
import { DEFAULT_VALUE_LIMITS } from '../../src/values/limits.ts'
import { echo, syncEcho } from '../echo-tools.ts'
import { SeededRandom } from '../seeded-random.ts'

const runtime = await openRuntime({ capabilities: [echo, syncEcho] })
afterAll(() => runtime.close())

/** Replaces every function and accessor that a guest can reach, but for those that it keeps for itself. */
const POISON = `
  const { tools } = globalThis, log = console.log, { defineProperty, getOwnPropertyNames, getOwnPropertySymbols } = Object
  const length = (list) => list.length
  let hits = 0
  const trap = function () { hits += 1; throw new RangeError('poison') }
  const put = (object, key) => {
    // What the language itself asks a promise for when it is awaited stays.
    if (key === 'hits' || key === 'prototype' || (key === 'constructor' && object === prototypes[9])) return
    try { defineProperty(object, key, { __proto__: null, get: trap, set: trap, configurable: true }) } catch {}
  }
  const poison = (object) => {
    const names = getOwnPropertyNames(object), symbols = getOwnPropertySymbols(object)
    for (let i = 0; i < length(names); i += 1) put(object, names[i])
    for (let i = 0; i < length(symbols); i += 1) put(object, symbols[i])
  }
  const roots = [Object, Array, Map, Set, WeakMap, Error, TypeError, RangeError, RegExp, Promise, String, Number, Symbol, Function, Reflect, JSON, Math,
    ArrayBuffer, Uint8Array, Object.getPrototypeOf(Uint8Array), Object.getPrototypeOf([][Symbol.iterator]()), WeakRef, Date, Proxy, DataView]
  const prototypes = []
  for (let i = 0; i < length(roots); i += 1) prototypes[i] = roots[i].prototype
  const poisonAll = () => {
    for (let i = 0; i < length(roots); i += 1) if (roots[i] !== Object && roots[i] !== Array) poison(roots[i])
    for (let i = 0; i < length(prototypes); i += 1) if (prototypes[i]) poison(prototypes[i])
    poison(roots[0]); poison(roots[1])
  }`

describe('a guest that poisons everything', () => {
  it('breaks its own library at worst: calls, values, timers and the console are what they were', async () => {
    const names = [
      'TextEncoder',
      'TextDecoder',
      'URL',
      'URLSearchParams',
      'AbortSignal',
      'Event',
      'structuredClone',
      'crypto',
      'DOMException',
      'performance',
      'btoa',
      'ReadableStream',
      'WritableStream',
      'TransformStream',
      'TextDecoderStream',
    ]
    const outcome = await runtime.run(
      `${POISON}
      const queue = queueMicrotask, later = setTimeout
      let order = ''
      later(() => { order += 't' }, 5)
      poisonAll()
      queue(() => { order += 'm' })
      ${names.map((name) => `try { new ${name}('http://a.example') } catch {} try { ${name}('x') } catch {}`).join('\n')}
      log('a line', { a: 1 })
      const sync = tools.sync({ a: { b: 1 } })
      const answered = await tools.echo({ __proto__: null, text: 'x' })
      await tools.echo(1)
      await new Promise((resolve) => later(resolve, 6))
      globalThis.done = { sync, answered, order }
      return globalThis.done`,
      { grants: ['tools.echo', 'tools.sync'] },
    )
    expect(outcome).toMatchObject({
      status: 'completed',
      value: { sync: { a: { b: 1 } }, answered: { text: 'x' }, order: 'mt' },
      logs: [{ level: 'log', text: 'a line { a: 1 }' }],
      usage: { calls: 3 },
    })
  })

  it('gets nothing of the host or of the prelude from what it replaced', async () => {
    const source = `
      const seen = new Set()
      const watch = (object, name) => {
        const original = object[name]
        object[name] = function (...args) {
          for (const value of [this, ...args]) if (value !== null && (typeof value === 'object' || typeof value === 'function')) seen.add(value)
          return original.apply(this, args)
        }
      }
      const { keys, getOwnPropertyNames } = Object
      for (const [object, names] of [[Object, ['keys', 'defineProperty', 'create', 'entries', 'getOwnPropertyDescriptor', 'defineProperties']], [Reflect, ['apply', 'ownKeys']], [Function.prototype, ['bind']], [Map.prototype, ['get', 'set', 'delete']], [Array.prototype, ['slice', 'push', 'find', 'map', 'filter']], [Promise.prototype, ['then']]]) for (const name of names) watch(object, name)
      new URL('http://1.2.3.4/?a=b').searchParams.sort(); new TextDecoder().decode(new TextEncoder().encode('x')); AbortSignal.timeout(1); new AbortController().abort()
      console.table([1]); console.count(); crypto.randomUUID(); structuredClone({}); performance.now(); atob('')
      const secrets = ['load', 'indentLog', 'randomBytes', 'armTimer', 'decodeText', 'use', 'internals']
      return [...seen].filter((value) => { try { return getOwnPropertyNames(value).some((key) => secrets.includes(key)) } catch { return false } }).length`
    expect(await runtime.run(source)).toMatchObject({ status: 'completed', value: 0 })
  })

  it('leaves the next turn its calls, whatever was overwritten in the one before', async () => {
    const source = `
      await tools.echo(1)
      for (const name of Object.getOwnPropertyNames(globalThis)) {
        if (['tools', 'globalThis', 'Object', 'Set'].includes(name)) continue
        try { Object.defineProperty(globalThis, name, { value: () => { throw 1 }, writable: true, configurable: true }) } catch {}
      }
      Promise.prototype?.then
      return [await tools.echo({ a: [1, { b: 2 }] }), await tools.echo('x')]`
    expect(await runtime.run(source, { grants: ['tools.echo', 'tools.sync'] })).toMatchObject({
      status: 'completed',
      value: [{ a: [1, { b: 2 }] }, 'x'],
      usage: { calls: 3 },
    })
  })
})

describe('a guest that calls host functions as its prelude never does', () => {
  it('gets an answer or ends, and nothing of the host fails', () => {
    const random = new SeededRandom(11)
    const pool = openPool()
    for (let round = 0; round < 60; round += 1) {
      const pooled = pool.acquire()
      const { instance, guest, writer } = pooled
      const services = HostServices.start(pooled, { call: () => undefined }, startOf(''))
      instance.serve(services, instance.size)
      instance.gauge.reset(1_000_000_000)
      instance.gauge.begin(100_000, Number.POSITIVE_INFINITY, undefined)
      const values = [
        writer.write({ length: -1, a: [1] }, DEFAULT_VALUE_LIMITS),
        writer.write('SHA-256', DEFAULT_VALUE_LIMITS),
        writer.writeNumber(-5),
        guest.undefined,
        random.u32(),
        instance.size - 4,
      ]
      for (let fn = 0; fn < FIRST_CAPABILITY; fn += 1) {
        const at = values[random.below(values.length)] as number
        try {
          const cell = services.call(fn, random.below(4), at)
          expect(cell >>> 0).toBeLessThan(instance.size)
        } catch (error) {
          expect(CaissonError.is(error, 'corrupted'), `${fn}: ${String(error)}`).toBe(true)
        }
      }
      pooled.release(false)
    }
  })
})

describe('work that the host does for a guest', () => {
  it.each([
    ['structuredClone(value)', 'const value = new Uint8Array(1_000_000)'],
    ['crypto.getRandomValues(value)', 'const value = new Uint8Array(65_536)'],
    ['new TextDecoder().decode(value)', 'const value = new Uint8Array(1_000_000)'],
    ['new TextEncoder().encode(value)', "const value = 'x'.repeat(1_000_000)"],
    ["crypto.subtle.digest('SHA-512', value)", 'const value = new Uint8Array(1_000_000)'],
    ['console.log(value)', "const value = 'x'.repeat(16_000)"],
  ])('is paid for: %s for ever ends by fuel', async (act, prepare) => {
    const outcome = await runtime.run(`${prepare}\nfor (;;) ${act}`, {
      limits: { fuel: 500_000_000, memoryBytes: 64 * 1024 * 1024 },
    })
    expect(outcome).toMatchObject({ status: 'exhausted', limit: 'fuel' })
  })

  it('is refused where it is too much at once', async () => {
    const source = `
      const refused = []
      for (const act of [() => new TextEncoder().encode('x'.repeat(17_000_000)), () => structuredClone(new Uint8Array(17_000_000))]) {
        try { act() } catch (error) { refused.push(error.name) }
      }
      return refused`
    const limits = { fuel: 2_000_000_000, memoryBytes: 256 * 1024 * 1024 }
    expect(await runtime.run(source, { limits })).toMatchObject({
      status: 'completed',
      value: ['RangeError', 'DataCloneError'],
    })
  })
})
