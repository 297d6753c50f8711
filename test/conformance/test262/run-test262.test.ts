import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { Isolate } from '../../../src/isolate/isolate.ts'
import { GUEST_KINDS, type GuestKind, openPools } from '../guest-kinds.ts'
import { EXCLUSIONS } from './applicability.ts'
import { Test262Checkout } from './checkout.ts'
import { type FixtureSuite, writeFixtureSuite } from './fixture-suite.ts'
import type { GuestRuns } from './guests-compared.ts'
import { isGoodEnough, test262Details, test262Report } from './report.ts'
import { runTest262, type Test262Result } from './run-test262.ts'
import type { Scenario } from './scenario.ts'
import { runScenario, TEST_LIMITS } from './test-guest.ts'

let suite: FixtureSuite
let guests: GuestRuns

interface Options {
  readonly seed: number
  readonly size: number
  readonly runs: GuestRuns
  readonly kinds: readonly GuestKind[]
}

/** What the fixtures under a folder bring. */
function run(
  under: string,
  { seed = 1, size = Number.POSITIVE_INFINITY, runs = guests, kinds = GUEST_KINDS }: Partial<Options> = {},
): Test262Result {
  const checkout = new Test262Checkout(suite.folder)
  return runTest262({ checkout, guests: runs, kinds, size, seed, under, progress: () => {} })
}

beforeAll(async () => {
  suite = writeFixtureSuite()
  // A hang has to be short here.
  const limits = { ...TEST_LIMITS, fuel: 300_000_000 }
  const poolOf = await openPools(GUEST_KINDS)
  guests = (kind, scenario) => runScenario(poolOf(kind), scenario, { moves: kind === 'moved', limits })
})

afterAll(() => suite.remove())

describe('the runner of test262', () => {
  it('passes what is right, in every kind of guest', () => {
    const result = run('test/pass')
    expect(test262Details(result).trim()).toBe('')
    expect(result.passed).toBe(suite.passing.length)
    expect(isGoodEnough(result, 1)).toBe(true)
  })

  it('fails every test that is wrong, in some mode, for its own reason', () => {
    const result = run('test/fail')
    expect(result.passed).toBe(0)
    expect(result.changes).toEqual([])
    for (const [path, reason] of suite.failing) {
      expect(result.failures.find((failure) => failure.path === path)?.reason, path).toContain(reason)
    }
    expect(isGoodEnough(result, 0.985)).toBe(false)
  })

  it('tells when a verdict depends on the metering', () => {
    const result = run('test/change')
    expect(result.changes.map(({ path, kind }) => [path, kind])).toEqual([[suite.changing[0], 'plain']])
    expect(isGoodEnough({ ...result, passed: result.run }, 0)).toBe(false)
    expect(test262Report(result, GUEST_KINDS, 0)).toContain('1 changes of a verdict')
  })

  it('tells when a guest that was moved ends otherwise, or a profile counts otherwise', () => {
    const broken: GuestRuns = (kind, scenario) => {
      const outcome = guests(kind, scenario)
      if (kind === 'moved') return { ...outcome, printed: [...outcome.printed, 'lost'] }
      return kind === 'portable' ? { ...outcome, fuel: outcome.fuel + 1 } : outcome
    }
    const changes = run('test/pass/async.js', { runs: broken }).changes
    expect(new Set(changes.map(({ kind }) => kind))).toEqual(new Set(['moved', 'portable']))
    expect(changes.find(({ kind }) => kind === 'moved')?.what).toContain('failed: lost')
  })

  it('moves a guest after each job of an async test', () => {
    const restore = vi.spyOn(Isolate.prototype, 'restore')
    run('test/pass/both.js')
    expect(restore).toHaveBeenCalledTimes(2)
    run('test/pass/async.js')
    expect(restore.mock.calls.length).toBeGreaterThan(20)
  })

  it('tells when a restored guest lacks a part of its memory', () => {
    const { restore } = Isolate.prototype
    vi.spyOn(Isolate.prototype, 'restore').mockImplementation(function (this: Isolate, from) {
      const changes = [...from.changes]
      restore.call(this, { ...from, changes: changes.slice(changes.length / 2) })
    })
    const { passed, run: all, changes } = run('test/pass/includes.js')
    expect(passed).toBe(all)
    expect(new Set(changes.map(({ kind }) => kind))).toEqual(new Set(['moved']))
  })

  it('leaves out what is not applicable, and counts it', () => {
    const result = run('test/skip')
    expect(result).toMatchObject({ found: suite.skipped.length, applicable: 0, run: 0 })
    expect([...result.excluded.values()]).toEqual([suite.skipped.length])
    expect(isGoodEnough(result, 0)).toBe(false)
  })

  it('takes no file that only tests import for a test', () => {
    expect(run('test/pass/part').found).toBe(0)
  })

  it('draws the same tests for the same seed', () => {
    const drawn = (seed: number): readonly string[] => {
      const paths = new Set<string>()
      const note: GuestRuns = (kind, scenario) => {
        paths.add(scenario.test.path)
        return guests(kind, scenario)
      }
      run('test/pass', { seed, size: 4, runs: note, kinds: ['v8'] })
      return [...paths]
    }
    expect(drawn(7)).toHaveLength(4)
    expect(drawn(7)).toEqual(drawn(7))
    expect(new Set([1, 2, 3, 4].map((seed) => drawn(seed).join())).size).toBeGreaterThan(1)
  })
})

describe('what is left out of test262', () => {
  const absent = EXCLUSIONS.flatMap((exclusion) => (exclusion.absent === undefined ? [] : [exclusion]))

  it.each(absent)('$because', ({ absent: expression }) => {
    const source = `
      let missing
      try { missing = (0, eval)(${JSON.stringify(expression)}) === undefined } catch (error) { missing = error instanceof SyntaxError }
      if (!missing) throw new Error('It is there.')`
    const scenario: Scenario = {
      test: {
        path: 'absent.js',
        source,
        matter: { flags: new Set(), features: [], includes: [], negative: undefined },
      },
      mode: 'sloppy',
      harness: [],
      script: { fileName: 'absent.js', source },
      modules: new Test262Checkout(suite.folder).modules,
    }
    expect(guests('v8', scenario).report).toEqual({ threw: false, name: '', message: '' })
  })
})
