import { expect, it } from 'vitest'
import { aggregateOf } from './aggregate.ts'

it('shows one large right that was split into many small calls', () => {
  const pay = { kind: 'call', action: 'bank.pay', effect: 'destructive', cost: { cents: 99 } } as const
  const look = { kind: 'call', action: 'bank.look', effect: 'read' } as const
  const requests = [...Array.from({ length: 100 }, () => pay), look, { kind: 'question' } as const]
  expect(aggregateOf(requests)).toEqual({
    requests: 102,
    actions: { 'bank.pay': 100, 'bank.look': 1 },
    effects: { destructive: 100, read: 1 },
    cost: { cents: 9_900 },
    withoutCost: 1,
  })
  expect(aggregateOf([])).toEqual({ requests: 0, actions: {}, effects: {}, cost: {}, withoutCost: 0 })
})

it('takes names for names, whatever they are', () => {
  const odd = { kind: 'call', action: '__proto__', effect: 'read', cost: { constructor: 2 } } as const
  const { actions, cost } = aggregateOf([odd, odd])
  expect(Object.entries(actions)).toEqual([['__proto__', 2]])
  expect(Object.entries(cost)).toEqual([['constructor', 4]])
})
