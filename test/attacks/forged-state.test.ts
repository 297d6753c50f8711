/**
 * Checkpoints whose container is right in every digest and MAC, and whose state is not: made by somebody who has the
 * key, or where there is none. Each is refused by a code, or is a guest that ends as any other; nothing that may not be
 * repeated is invoked, and the host goes on.
 */
import { beforeEach, describe, expect, it } from 'vitest'
import { CYCLE, type Forger, openForger } from './forged-fields.ts'

let forger: Forger
beforeEach(async () => {
  forger = await openForger()
})

describe('the fields of the state', () => {
  it('with other types, ranges and meanings are refused by a code, or end as a guest does', async () => {
    expect(await forger.sweep(61)).toEqual([]) // all of them: forged-state.long.test.ts
    expect(forger.bank.paid).toEqual([])
    expect(await forger.runtime.run('return 1')).toMatchObject({ value: 1 })
  })

  it.each([
    [['session', 'nowMs'], 2 ** 53 - 1],
    [['session', 'logs', '0', 'atMs'], 9e15],
    [['machine', 'random', 'mathRandom', '1'], 7n],
    [['machine', 'random', 'mathRandom', '1'], 2 ** 32],
    [['machine', 'random', 'cryptoBytes'], 2 ** 53],
    [['machine', 'pending', '0', 'id'], 0],
    [['machine', 'pending', '0', 'askedAtMs'], Number.NaN],
    [['limits', 'memoryBytes'], 2 ** 40],
    [['guestId'], '../x\n'],
    [['mark'], 5],
  ] as const)('%j: %s is refused', async (path, value) => {
    expect(await forger.taken(await forger.forge(path, () => value))).toBe('corrupted')
  })

  it.each([
    ['a cause that is its own', { cause: CYCLE }],
    ['a number for a stack', { stack: 5 }],
    ['an object for a code', { code: {} }],
    ['a text for a position', { position: 'x' }],
    ['a position of other types', { position: { file: 1, line: 'x', column: {} } }],
    ['a text for a cause', { cause: 'text' }],
  ])('errors that people are shown, with %s, are refused', async (_, part) => {
    const error = { name: 'E', message: 'm', ...part }
    const forged = await forger.forge(['session', 'unhandledRejections', '0'], () => error)
    expect(await forger.taken(forged)).toBe('corrupted')
  })
})

describe('a state that contradicts its header, or its limits', () => {
  it('by its memory is refused before a guest has it', async () => {
    const limit = 16 * 1024 * 1024
    const forged = await forger.forge(['limits', 'memoryBytes'], () => limit, { memoryBytes: 2 * limit })
    expect(await forger.taken(forged)).toBe('invalid_limit')
  })

  it.each([
    [['machine', 'fuel'], 2 ** 52],
    [['session', 'wallMs'], 1e9],
    [['session', 'usage', 'bytesIn'], 2 ** 40],
  ] as const)('by %j, which is more than the guest may use up, ends at once', async (path, value) => {
    expect(await forger.taken(await forger.forge(path, () => value))).toMatch(/exhausted|corrupted/)
    expect(forger.bank.paid).toEqual([])
  })
})
