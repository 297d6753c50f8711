import vm from 'node:vm'
import { describe, expect, it } from 'vitest'
import { PROGRAMS, UNSEEN_PROGRAMS } from './programs.ts'

describe('programs', () => {
  it.each([...PROGRAMS, ...UNSEEN_PROGRAMS])(
    '$name gives the same result on every run',
    ({ source, check }) => {
      const context = vm.createContext({})
      vm.runInContext(source, context)
      for (let again = 0; again < 2; again++) {
        expect(() => check(vm.runInContext('run()', context))).not.toThrow()
      }
    },
  )

  it('leave nothing but run in the global scope, and use no clock, randomness or host object', () => {
    for (const { source } of [...PROGRAMS, ...UNSEEN_PROGRAMS]) {
      const context = vm.createContext({})
      vm.runInContext('delete globalThis.Date; delete Math.random', context)
      vm.runInContext(source, context)
      expect(Object.keys(context)).toEqual(['run'])
      vm.runInContext('run()', context)
    }
  })

  it('refuse a wrong result', () => {
    expect(() => PROGRAMS[0]?.check(0)).toThrow(/binary-trees gave 0 instead of/)
  })
})
