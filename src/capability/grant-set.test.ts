import { describe, expect, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import type { Capability } from './capability.ts'
import { createCapabilityTable } from './capability-table.ts'
import { capability, checkCapability } from './define-capability.ts'
import { type Grant, grant } from './grant.ts'
import { grantSet } from './grant-set.ts'

function named(name: string, more: Partial<Capability> = {}): Capability {
  return checkCapability({ name, description: 'x', effect: 'read', invoke: () => 1, ...more } as Capability)
}

describe('createCapabilityTable', () => {
  it('refuses a name used twice and a name that is the namespace of another', () => {
    expect(() => createCapabilityTable([named('a.b'), named('a.b')])).toThrow(/Two capabilities/)
    expect(() => createCapabilityTable([named('a.b.c'), named('a')])).toThrow(/namespace of "a.b.c"/)
    expect(createCapabilityTable([named('a.b'), named('ab')]).names).toEqual(['a.b', 'ab'])
  })

  it('finds own names only', () => {
    const table = createCapabilityTable([named('a.b')])
    for (const name of ['__proto__', 'constructor', 'toString', 'a', 'a.b.c', '']) {
      expect(table.find(name)).toBeUndefined()
    }
  })

  it('checks definitions that did not pass through capability()', () => {
    const raw = { name: 'Object', description: 'x', effect: 'read', invoke: () => 1 } as const
    expect(() => createCapabilityTable([raw])).toThrow(/field "name"/)
  })

  it('lists near misses of an unknown name', () => {
    const table = createCapabilityTable([named('prices.lookup'), named('files.read')])
    expect(() => table.get('price.lookup')).toThrow(/Did you mean "prices.lookup"/)
    expect(() => table.get('prices.lookpu')).toThrow(/Did you mean "prices.lookup"/)
    expect(() => table.get('prices.*')).toThrow(/Wildcards are not supported/)
    expect(() => table.get('zzz')).toThrow(/There are: prices.lookup, files.read/)
  })
})

describe('grantSet', () => {
  const lookup = capability({
    name: 'prices.lookup',
    description: 'x',
    effect: 'read',
    input: z.object({ sku: z.string() }),
    invoke: () => 1,
  })
  const table = createCapabilityTable([lookup, named('clock.now', { sync: true }), named('mail.send')])

  it('holds what was named, in order, and nothing else', () => {
    const grants = grantSet(table, ['mail.send', 'prices.lookup'])
    expect(grants.held.map(({ capability }) => capability.name)).toEqual(['mail.send', 'prices.lookup'])
    expect(grants.find('clock.now')).toBeUndefined()
    expect(grants.find('__proto__')).toBeUndefined()
    expect(grants.isRegistered('clock.now')).toBe(true)
  })

  it('takes capabilities as objects, and only the registered ones', () => {
    expect(grantSet(table, [{ capability: lookup }]).held).toHaveLength(1)
    expect(() => grantSet(table, [{ capability: named('prices.lookup') }])).toThrow(/not the registered one/)
  })

  it('gives constraints the input type', () => {
    const narrowed = grant(lookup, {
      constrain: (args) => {
        expectTypeOf(args).toEqualTypeOf<{ sku: string }>()
        return true
      },
    })
    expect(grantSet(table, [narrowed]).held).toHaveLength(1)
  })

  it.each([
    [{ capability: 'mail.send', calls: -1 }, /calls/],
    [{ capability: 'mail.send', calls: Number.NaN }, /calls/],
    [{ capability: 'mail.send', rate: { calls: 0, perMs: 5 } }, /rate.calls/],
    [{ capability: 'mail.send', rate: { calls: 1, perMs: 0 } }, /perMs/],
    [{ capability: 'mail.send', budgets: { cents: Number.POSITIVE_INFINITY } }, /cents/],
    [{ capability: 'mail.send', budgets: { cents: 5 } }, /need a `cost`/],
    [{ capability: 'mail.send', limit: 5 }, /no condition "limit"/],
    [{ capability: 'clock.now', approve: true }, /cannot wait for a person/],
    [{ capability: 'clock.now', concurrent: 2 }, /never called concurrently/],
    [{ capability: 7 }, /A grant is/],
    [null, /A grant is/],
  ] as unknown as [Grant, RegExp][])('refuses %j', (given, message) => {
    expect(() => grantSet(table, [given])).toThrow(message)
  })

  it('refuses two grants of one capability', () => {
    expect(() => grantSet(table, ['mail.send', { capability: 'mail.send', calls: 1 }])).toThrow(
      /granted twice/,
    )
  })

  it('revokes for good, and fails closed when the look-up of a right throws', () => {
    let away = false
    const grants = grantSet(table, [
      'mail.send',
      { capability: 'prices.lookup', revoked: () => away },
      {
        capability: 'clock.now',
        revoked: () => {
          throw new Error('directory down')
        },
      },
    ])
    expect(grants.held.map(({ revoked }) => revoked)).toEqual([false, false, true])
    grants.revoke('mail.send')
    away = true
    expect(grants.held.map(({ revoked }) => revoked)).toEqual([true, true, true])
    expect(() => grants.revoke('nothing')).toThrow(/no grant of "nothing"/)
  })
})

describe('a capability that continues another one', () => {
  const table = createCapabilityTable([
    named('net.more', { continues: 'net.open' }),
    named('net.open'),
    named('net.other'),
  ])

  it('3: is granted with it, after what was named, and not without it', () => {
    const names = (grants: readonly Grant[]): readonly string[] =>
      grantSet(table, grants).held.map(({ capability: { name } }) => name)
    expect(names(['net.open', 'net.other'])).toEqual(['net.open', 'net.other', 'net.more'])
    expect(names(['net.other'])).toEqual(['net.other'])
    expect(names(['net.more', 'net.open'])).toEqual(['net.more', 'net.open'])
    expect(names(['net.more'])).toEqual(['net.more'])
    expect(grantSet(createCapabilityTable([named('net.open')]), ['net.open']).held).toHaveLength(1)
  })

  it('3: is taken back with it, and has the conditions of its own grant', () => {
    for (const more of [[], [{ capability: 'net.more', calls: 3 }]]) {
      const set = grantSet(table, ['net.open', ...more])
      expect(set.find('net.more')?.rule.calls).toBe(more[0]?.calls)
      set.revoke('net.open')
      expect(set.find('net.more')?.revoked).toBe(true)
    }
    const elsewhere = grantSet(table, [{ capability: 'net.open', revoked: () => true }])
    expect(elsewhere.find('net.more')?.revoked).toBe(true)
    const itself = grantSet(table, ['net.open'])
    itself.revoke('net.more')
    expect(itself.find('net.open')?.revoked).toBe(false)
  })

  it('continues no other that continues, none that answers at once, and not itself', () => {
    const chain = [named('a.a', { continues: 'a.b' }), named('a.b', { continues: 'a.c' }), named('a.c')]
    expect(() => createCapabilityTable(chain)).toThrow(/continues "a.b"/)
    const atOnce = [named('a.a', { continues: 'a.b' }), named('a.b', { sync: true } as Partial<Capability>)]
    expect(() => createCapabilityTable(atOnce)).toThrow(/answered at once/)
    expect(() => named('a.a', { continues: 'a.a' })).toThrow(/another capability/)
    expect(() => named('a.a', { continues: '' })).toThrow(/field "continues"/)
    expect(() => named('a.a', { continues: 'a.b', sync: true } as Partial<Capability>)).toThrow(/goes on/)
  })
})
