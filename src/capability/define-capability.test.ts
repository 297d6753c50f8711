import * as v from 'valibot'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import { CaissonError } from '../base/errors.ts'
import type { AsyncCapability, Capability } from './capability.ts'
import { capability, checkCapability } from './define-capability.ts'

const base = { name: 'prices.lookup', description: 'Current price', effect: 'read' as const, invoke: () => 1 }

function refusal(definition: unknown): CaissonError {
  try {
    checkCapability(definition as Capability)
  } catch (error) {
    if (CaissonError.is(error, 'invalid_capability')) return error
    throw error
  }
  throw new Error('not refused')
}

describe('capability', () => {
  it('gives back a frozen copy that later changes do not reach', () => {
    const definition = { ...base }
    const defined = capability(definition)
    definition.name = 'other'
    expect(defined.name).toBe('prices.lookup')
    expect(Object.isFrozen(defined)).toBe(true)
    expect(capability(defined)).toBe(defined)
  })

  it.each([
    '',
    '__proto__',
    'a.__proto__',
    'constructor',
    'a.prototype',
    'a.constructor.b',
    'Object',
    'Promise',
    'console',
    'console.log',
    'globalThis',
    'a.then',
    'x.toString',
    'delete',
    'a..b',
    '.a',
    'a.',
    'a.b.c.d.e',
    'a-b',
    'a b',
    'ä',
    'a\0b',
    'Prices.lookup',
    'x'.repeat(65),
  ])('refuses the name %j', (name) => {
    expect(refusal({ ...base, name }).details.field).toBe('name')
  })

  it.each(['a', 'prices.lookup', 'a.b.c.d', 'files.readText', 'x1'])('takes the name %j', (name) => {
    expect(capability({ ...base, name }).name).toBe(name)
  })

  it('refuses a name of a megabyte without quoting it', () => {
    expect(refusal({ ...base, name: 'a.'.repeat(500_000) }).message.length).toBeLessThan(400)
  })

  it('names the field that is wrong and says what to do', () => {
    expect(refusal({ ...base, description: ' ' }).details.field).toBe('description')
    expect(refusal({ ...base, effect: 'wirte' }).message).toContain('"read", "write" or "destructive"')
    expect(refusal({ ...base, invoke: 3 }).details.field).toBe('invoke')
    expect(refusal({ ...base, timeoutMs: 0 }).message).toContain('milliseconds')
    expect(refusal({ ...base, timeoutMs: Number.POSITIVE_INFINITY }).details.field).toBe('timeoutMs')
    expect(refusal({ ...base, timeout: 5 }).message).toContain('there is no such field')
    expect(refusal({ ...base, input: { type: 'object' } }).message).toContain('Standard Schema')
    expect(refusal({ ...base, expose: ['no_such_code'] }).details.field).toBe('expose')
    expect(refusal(null).code).toBe('invalid_capability')
  })

  it('allows retries only where repeating is harmless', () => {
    const retry = { attempts: 2 }
    expect(refusal({ ...base, effect: 'write', retry }).message).toContain('act twice')
    expect(capability({ ...base, effect: 'write', idempotent: true, retry }).retry).toEqual(retry)
    expect(refusal({ ...base, retry: { attempts: 9 } }).details.field).toBe('retry')
    expect(refusal({ ...base, effect: 'read', idempotent: false, retry }).details.field).toBe('retry')
  })

  it('allows sync only for reads', () => {
    expect(refusal({ ...base, effect: 'write', sync: true }).details.field).toBe('sync')
    expect(refusal({ ...base, sync: true, retry: { attempts: 2 } }).details.field).toBe('retry')
  })

  it('lets the types of zod and valibot schemas flow into invoke', () => {
    const prices = capability({
      name: 'prices.lookup',
      description: 'Current price',
      effect: 'read',
      input: z.object({ sku: z.string(), days: z.number().default(1) }),
      output: z.object({ price: z.number() }),
      invoke: async ({ sku, days }, { signal }) => {
        expectTypeOf(sku).toEqualTypeOf<string>()
        expectTypeOf(days).toEqualTypeOf<number>()
        expectTypeOf(signal).toEqualTypeOf<AbortSignal>()
        return { price: sku.length }
      },
    })
    expectTypeOf(prices).toEqualTypeOf<AsyncCapability<{ sku: string; days: number }, { price: number }>>()
    capability({
      name: 'a.b',
      description: 'x',
      effect: 'read',
      sync: true,
      input: v.object({ n: v.number() }),
      invoke: ({ n }) => {
        expectTypeOf(n).toEqualTypeOf<number>()
        return n
      },
    })
    const untyped = capability({
      name: 'a.c',
      description: 'x',
      effect: 'read',
      invoke: (input) => {
        expectTypeOf(input).toEqualTypeOf<unknown>()
        return 1
      },
    })
    const list: Capability[] = [prices, untyped]
    expect(list).toHaveLength(2)
  })

  it('holds invoke to the output schema, in types', () => {
    const defined = capability({
      name: 'a.b',
      description: 'x',
      effect: 'read',
      output: z.object({ price: z.number() }),
      // @ts-expect-error a string is no price
      invoke: async () => ({ price: 'much' }),
    })
    expect(defined.name).toBe('a.b')
  })
})
