/** The plan of the killed plan runs: payments one after the other, side by side, by programs, and behind a person. */
import type { Plan, PlanNode } from '../../src/entry/node.ts'

const pay = (amount: number, more: object = {}): PlanNode => ({
  kind: 'call',
  capability: 'world.pay',
  input: amount,
  ...more,
})

export const PLAN: Plan = {
  format: 'plan/1',
  name: 'paying',
  version: '1',
  grants: ['world.pay'],
  nodes: {
    first: pay(0),
    second: pay(1, { after: ['first'] }),
    all: {
      kind: 'each',
      over: [10, 20, 30],
      most: 3,
      concurrency: 2,
      do: {
        nodes: {
          two: {
            kind: 'program',
            source: 'return [await world.pay(input), await world.pay(input + 1)]',
            input: { $from: 'item' },
            grants: ['world.pay'],
          },
        },
        output: { $from: 'two' },
      },
    },
    rounds: {
      kind: 'loop',
      state: 40,
      most: 5,
      until: { $eval: 'n >= 43', with: { n: { $from: 'state' } } },
      do: { nodes: { one: pay(0, { input: { $from: 'state' } }) }, output: { $from: 'one' } },
      after: ['second'],
    },
    agree: { kind: 'approval', question: 'Pay the last one?', show: { $from: 'all' } },
    last: pay(50, { after: ['agree', 'rounds'] }),
  },
  output: { all: { $from: 'all' }, rounds: { $from: 'rounds' }, last: { $from: 'last' } },
}

/** What is paid, each once. */
export const PAYMENTS: readonly number[] = [0, 1, 10, 11, 20, 21, 30, 31, 40, 41, 42, 50]

/** What comes out: every payment gives the next number. */
export const OUTPUT: unknown = {
  all: [
    [11, 12],
    [21, 22],
    [31, 32],
  ],
  rounds: 43,
  last: 51,
}
