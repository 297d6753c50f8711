import { describe, expect, it } from 'vitest'
import {
  aFunction,
  anObject,
  anything,
  aText,
  checkOptions,
  listOf,
  type OptionChecks,
  oneOf,
  trueOrFalse,
  wholeFrom,
  withMethods,
} from './option-checks.ts'

interface Options {
  readonly any?: unknown
  readonly object?: object
  readonly act?: () => void
  readonly text?: string
  readonly flag?: boolean
  readonly word?: 'a' | 'b'
  readonly list?: readonly string[]
  readonly count?: number
  readonly store?: { get(): void; set(): void }
}

const CHECKS: OptionChecks<Options> = {
  any: anything,
  object: anObject,
  act: aFunction,
  text: aText,
  flag: trueOrFalse,
  word: oneOf('a', 'b'),
  list: listOf('names'),
  count: wholeFrom(1, 5),
  store: withMethods('a store', 'get', 'set'),
}

class Store {
  get(): void {}
  set(): void {}
}

const check = (options: unknown, required: readonly (keyof Options)[] = []): void =>
  checkOptions(options as Options, CHECKS, required)

describe('options', () => {
  it('of the right types pass, inherited methods included', () => {
    const right = { any: Symbol(), object: {}, act: () => {}, text: '', flag: false, word: 'b', list: [] }
    expect(() => check({ ...right, count: 5, store: new Store() }, ['store'])).not.toThrow()
    expect(() => check({ text: undefined })).not.toThrow()
  })

  it.each([
    ['object', null, 'an object'],
    ['act', {}, 'a function'],
    ['text', 5, 'a text'],
    ['flag', 'yes', 'true or false'],
    ['word', 'A', '"a" or "b"'],
    ['list', 'x', 'a list of names'],
    ['count', 6, 'a whole number from 1 to 5'],
    ['count', 1.5, 'a whole number from 1 to 5'],
    ['store', { get: () => {} }, 'a store: an object with get, set'],
  ])('%s of %s is refused by name', (option, value, expected) => {
    expect(() => check({ [option]: value })).toThrow(
      expect.objectContaining({
        code: 'invalid_argument',
        message: `Option ${option} must be ${expected}.`,
        details: { option },
      }),
    )
  })

  it('that do not exist are refused with those that do', () => {
    expect(() => check({ txt: '' })).toThrow(
      'There is no option "txt". Options: any, object, act, text, flag, word, list, count, store.',
    )
    expect(() => check(undefined)).toThrow('Options are an object.')
  })

  it('that are within another one are named with it', () => {
    const within = (options: object): void => checkOptions(options as Options, CHECKS, [], 'outer')
    expect(() => within({ txt: '' })).toThrow('There is no option "outer.txt". Options of outer: any, object')
    expect(() => within({ count: 0 })).toThrow('Option outer.count must be a whole number from 1 to 5.')
  })

  it('that are required may not be left out', () => {
    expect(() => check({}, ['count'])).toThrow('Option count must be a whole number from 1 to 5.')
    expect(() => check({ count: undefined }, ['count'])).toThrow('Option count must be')
  })

  it('that are promises of the right thing are refused with what to do', () => {
    expect(() => check({ store: Promise.resolve(new Store()) })).toThrow('It is a promise: await it first.')
  })
})
