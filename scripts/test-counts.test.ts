import { expect, it } from 'vitest'
import { countTests } from './test-counts.ts'

const file = (status: string, ...tests: string[]) => ({
  status,
  assertionResults: tests.map((each) => ({ status: each })),
})

it('adds up the tests of all files', () => {
  const testResults = [file('passed', 'passed', 'pending'), file('failed', 'failed', 'passed', 'todo')]
  expect(countTests({ testResults })).toEqual({ passed: 2, failed: 1, skipped: 2 })
})

it('counts a file that could not be loaded as failed', () => {
  expect(countTests({ testResults: [file('failed'), file('passed', 'passed')] })).toEqual({
    passed: 1,
    failed: 1,
    skipped: 0,
  })
})

it('counts a file whose set-up failed after its tests passed', () => {
  expect(countTests({ testResults: [file('failed', 'passed', 'passed')] }).failed).toBe(1)
})
