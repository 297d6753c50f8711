/**
 * Changes of the disk fail, or the power goes, while a run is erased, cut, exported or imported: it is whole as before, or
 * what it was to become, and can be verified. Here at every sixth operation, in the long run at each.
 */
import { describe, expect, it } from 'vitest'
import { FAILURES } from './disk-failures.ts'
import { operationsOf, problemsOfCut, problemsOfFailure, WHOLE, type Whole } from './whole-runs.ts'

const EVERY = 6

describe.each(Object.keys(WHOLE) as Whole[])('%s', (what) => {
  it.each(Object.entries(FAILURES))('that meets %s', { timeout: 120_000 }, async (_name, failure) => {
    const problems: string[] = []
    const operations = (await operationsOf(what)).filter((operation) => failure.meets(operation))
    for (const [i, { number }] of operations.entries())
      if (i % EVERY === 0) problems.push(...(await problemsOfFailure(what, failure, number)))
    expect(problems.slice(0, 5)).toEqual([])
  })

  it.each([0, 0.999])(
    'before any operation of which the power goes (%s)',
    { timeout: 120_000 },
    async (drawn) => {
      const problems: string[] = []
      for (const [i, { number }] of (await operationsOf(what)).entries())
        if (i % EVERY === 0) problems.push(...(await problemsOfCut(what, number, () => drawn)))
      expect(problems.slice(0, 5)).toEqual([])
    },
  )
})
