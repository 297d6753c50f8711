import { describe, expect, it } from 'vitest'
import { type Clocks, measure, type Plan, reasonOf } from './measure.ts'
import { checkedTrial, openingTrial, type Trial } from './trial.ts'

const PLAN: Plan = { rounds: 4, warmUpMs: 1, sliceMs: 1 }

/** Clocks that move only when a trial spends time. */
function manualClocks(): Clocks & { spend(ns: number): void; collections: number } {
  let now = 0
  return {
    collections: 0,
    spend: (ns) => {
      now += ns
    },
    wallNs: () => now,
    cpuNs: () => now * 2,
    collectGarbage() {
      this.collections++
    },
  }
}

function spending(clocks: ReturnType<typeof manualClocks>, ns: number, operations = 1): Trial {
  return {
    operations,
    run: () => {
      clocks.spend(ns)
      return undefined
    },
  }
}

describe('measure', () => {
  it('gives one figure per round and operation, on both clocks', async () => {
    const clocks = manualClocks()
    const { samples } = await measure(
      [{ subject: 'a', prepare: () => spending(clocks, 50_000, 10) }],
      PLAN,
      clocks,
    )
    expect(samples).toEqual([
      { subject: 'a', wall: [5_000, 5_000, 5_000, 5_000], cpu: [10_000, 10_000, 10_000, 10_000], runs: 20 },
    ])
    expect(clocks.collections).toBe(1)
  })

  it('does not count before and after', async () => {
    const clocks = manualClocks()
    const trial: Trial = {
      ...spending(clocks, 1_000_000),
      before: () => clocks.spend(7_000_000),
      after: () => clocks.spend(9_000_000),
    }
    const { samples } = await measure([{ subject: 'a', prepare: () => trial }], PLAN, clocks)
    expect(samples[0]?.wall).toEqual([1e6, 1e6, 1e6, 1e6])
    expect(samples[0]?.cpu).toEqual([2e6, 2e6, 2e6, 2e6])
  })

  it('warms up by the work that is timed, and not by what stands around it', async () => {
    const clocks = manualClocks()
    let runs = 0
    const trial: Trial = {
      operations: 1,
      before: () => clocks.spend(200_000),
      run: () => {
        runs += 1
        clocks.spend(100_000)
        return undefined
      },
    }
    await measure([{ subject: 'a', prepare: () => trial }], { ...PLAN, rounds: 0 }, clocks)
    expect(runs).toBe(5)
  })

  it('takes the figure of a trial that times itself, and then has no CPU time', async () => {
    const clocks = manualClocks()
    const trial: Trial = {
      operations: 1,
      run: async () => {
        clocks.spend(5_000_000)
        return 123
      },
    }
    const { samples } = await measure([{ subject: 'a', prepare: async () => trial }], PLAN, clocks)
    expect(samples).toEqual([{ subject: 'a', wall: [123, 123, 123, 123], runs: 1 }])
  })

  it('measures every subject once in every round, in orders that differ', async () => {
    const clocks = manualClocks()
    const order: string[] = []
    const entrant = (subject: string) => ({
      subject,
      prepare: () => ({
        operations: 1,
        run: () => {
          order.push(subject)
          clocks.spend(2_000_000)
          return undefined
        },
      }),
    })
    await measure([entrant('a'), entrant('b'), entrant('c')], { ...PLAN, rounds: 6 }, clocks)
    const rounds = Array.from({ length: 6 }, (_, round) => order.slice(3 + round * 3, 6 + round * 3).join(''))
    for (const round of rounds) expect([...round].sort().join('')).toBe('abc')
    expect(new Set(rounds).size).toBeGreaterThan(1)
  })

  it('goes on without a subject that cannot be prepared, gives wrong answers or breaks down later', async () => {
    const clocks = manualClocks()
    const disposed: string[] = []
    let left = 3
    const { samples, dropouts } = await measure(
      [
        { subject: 'good', prepare: () => spending(clocks, 2_000_000) },
        { subject: 'absent', prepare: () => Promise.reject(new Error('not\n  installed')) },
        {
          subject: 'wrong',
          prepare: () => ({
            ...checkedTrial(
              1,
              () => 41,
              (value) => {
                if (value !== 42) throw new Error(`${value} is not 42`)
              },
            ),
            dispose: () => void disposed.push('wrong'),
          }),
        },
        {
          subject: 'frail',
          prepare: () => ({
            operations: 1,
            run: () => {
              clocks.spend(2_000_000)
              if (left-- === 0) throw new Error('gone')
              return undefined
            },
            dispose: () => void disposed.push('frail'),
          }),
        },
      ],
      PLAN,
      clocks,
    )
    expect(samples.map(({ subject }) => subject)).toEqual(['good'])
    expect(dropouts).toEqual([
      { subject: 'absent', reason: 'not installed' },
      { subject: 'wrong', reason: '41 is not 42' },
      { subject: 'frail', reason: 'gone' },
    ])
    expect(disposed).toEqual(['wrong', 'frail'])
  })

  it('bounds the reason of whatever was thrown', () => {
    expect(reasonOf('x'.repeat(500))).toHaveLength(200)
    expect(reasonOf(new Error('a\n\tb'))).toBe('a b')
  })
})

describe('opening trial', () => {
  it('closes what it opened, once, outside of the timed part', async () => {
    const log: string[] = []
    let opened = 0
    const trial = openingTrial(
      async () => {
        log.push('open')
        return ++opened
      },
      (each) => void log.push(`close ${each}`),
    )
    for (let i = 0; i < 2; i++) {
      await trial.run()
      await trial.after?.()
    }
    await trial.after?.()
    expect(log).toEqual(['open', 'close 1', 'open', 'close 2'])
  })
})
