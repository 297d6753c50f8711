import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runFolderName, runOfFolder } from './run-folder-name.ts'

const LETTERS = 'ABCXYZabcxyz019._-'
const runs = fc
  .string({ unit: fc.constantFrom(...LETTERS), minLength: 1, maxLength: 128 })
  .filter((run) => !run.startsWith('.'))

describe('the folder of a run', () => {
  it('leads back to the run', () => {
    fc.assert(
      fc.property(runs, (run) => {
        expect(runOfFolder(runFolderName(run))).toBe(run)
      }),
    )
  })

  it('is another one for another run, also where case does not count', () => {
    fc.assert(
      fc.property(runs, runs, (left, right) => {
        fc.pre(left !== right)
        expect(runFolderName(left).toLowerCase()).not.toBe(runFolderName(right).toLowerCase())
      }),
    )
  })

  it('has a name that every file system takes', () => {
    fc.assert(
      fc.property(runs, (run) => {
        expect(runFolderName(run)).toMatch(/^run-[a-z0-9._=-]{2,165}$/)
      }),
    )
    for (const run of ['con', 'NUL.txt', 'a.', 'lpt1'])
      expect(runFolderName(run)).toMatch(/^run-.*=[0-9a-f]*$/)
    expect(runFolderName('X'.repeat(128)).length).toBeLessThan(255)
  })

  it('is nobody’s when its name was not made so', () => {
    const names = [
      'run-a',
      'run-A=',
      'run-a=0',
      'run-a=01',
      'run-1=1',
      'run-=',
      'a=',
      'run-a=f',
      'tmp-1',
      'run-ab=4',
    ]
    for (const name of names) expect(runOfFolder(name), name).toBeUndefined()
  })
})
