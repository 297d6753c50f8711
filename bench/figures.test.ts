import { describe, expect, it } from 'vitest'
import { type FigureDefinition, figuresOf } from './figures.ts'
import type { Samples } from './harness/measure.ts'
import { caseReport, suiteReport } from './harness/report.ts'
import type { Suite } from './harness/suite.ts'

const DEFINITION = {
  what: 'a call',
  measuredBy: 'calls/plain',
  subject: 'ours',
  base: 'theirs',
  sense: 'faster',
  atLeast: 10,
  aim: 25,
} as const satisfies FigureDefinition

const SUITE: Suite = {
  name: 'calls',
  description: '',
  subjects: 'sandbox',
  bases: ['absent', 'theirs'],
  summary: true,
  cases: [],
}

function reportOf(cases: Readonly<Record<string, readonly Samples[]>>) {
  const reports = Object.entries(cases).map(([name, samples]) =>
    caseReport(SUITE, { name, description: '', trialOf: () => ({ unable: '' }) }, samples, []),
  )
  return { suites: [suiteReport(SUITE, reports)] }
}

function samples(subject: string, wall: number, cpu?: number): Samples {
  const rounds = (each: number): number[] => [each, each * 2, each]
  return { subject, wall: rounds(wall), runs: 1, ...(cpu === undefined ? {} : { cpu: rounds(cpu) }) }
}

describe('figures', () => {
  it('judge by CPU time where both sides have it, else by wall time', () => {
    const byCpu = reportOf({ plain: [samples('ours', 50, 10), samples('theirs', 100, 300)] })
    expect(figuresOf(byCpu, [DEFINITION])).toMatchObject([
      { value: 30, clock: 'cpu', verdict: 'aim reached' },
    ])
    const byWall = reportOf({ plain: [samples('ours', 10, 10), samples('theirs', 120)] })
    expect(figuresOf(byWall, [DEFINITION])).toMatchObject([{ value: 12, clock: 'wall', verdict: 'reached' }])
  })

  it('are missed when slower than promised, whichever the sense', () => {
    const report = reportOf({ plain: [samples('ours', 50), samples('theirs', 100)] })
    expect(figuresOf(report, [DEFINITION])).toMatchObject([{ value: 2, verdict: 'missed' }])
    const cost = { ...DEFINITION, sense: 'cost', atLeast: 0.4, aim: 0.2 } as const
    expect(figuresOf(report, [cost])).toMatchObject([{ value: 0.5, verdict: 'missed' }])
  })

  it('take the geometric mean over the cases of a suite', () => {
    const report = reportOf({
      one: [samples('ours', 20), samples('theirs', 10)],
      two: [samples('ours', 80), samples('theirs', 10)],
    })
    const figure = { ...DEFINITION, measuredBy: 'calls', sense: 'cost', atLeast: 5, aim: 3 } as const
    expect(figuresOf(report, [figure])).toMatchObject([{ value: 4, verdict: 'reached' }])
    expect(report.suites[0]?.summary).toEqual([{ subject: 'ours', ratio: 4, cases: 2 }])
  })

  it('take the worst case of a quantity that has a bound', () => {
    const report = reportOf({
      quick: [samples('ours', 3)],
      slow: [samples('ours', 8), samples('theirs', 90)],
    })
    const worst = { sense: 'worst', what: '', measuredBy: 'calls', subject: 'ours', unit: 'ns' } as const
    expect(figuresOf(report, [{ ...worst, atLeast: 9, aim: 8 }])).toMatchObject([
      { value: 8, verdict: 'aim reached' },
    ])
    expect(figuresOf(report, [{ ...worst, atLeast: 7, aim: 6 }])).toMatchObject([{ verdict: 'missed' }])
  })

  it('count who agrees, and nobody where one differs', () => {
    const agreement = { sense: 'agreement', what: '', measuredBy: 'calls', atLeast: 2, aim: 3 } as const
    const equal = reportOf({ plain: [samples('a', 0), samples('b', 0)] })
    expect(figuresOf(equal, [agreement])).toMatchObject([{ value: 2, verdict: 'reached' }])
    const unequal = reportOf({ plain: [samples('a', 0), samples('b', 1), samples('c', 0)] })
    expect(figuresOf(unequal, [agreement])).toMatchObject([{ value: 0, verdict: 'missed' }])
  })

  it('say that they were not measured rather than reached', () => {
    const alone = reportOf({ plain: [samples('ours', 1)] })
    expect(figuresOf(alone, [DEFINITION])).toMatchObject([{ verdict: 'not measured' }])
    expect(alone.suites[0]?.cases[0]).not.toHaveProperty('base')
  })
})
