/** Values of every kind through the log, a checkpoint and a repetition of a run: the same at each border, to the digest. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createMemoryRunStore } from '../../host-bindings/store/memory-run-store.ts'
import { capability } from '../../src/entry/node.ts'
import { arbitraryValue } from '../../src/values/arbitrary-value.testkit.ts'
import { copyValue } from '../../src/values/copy-value.ts'
import { differenceOf } from '../../src/values/difference-of.testkit.ts'
import { DEFAULT_VALUE_LIMITS } from '../../src/values/limits.ts'
import { openBank } from './bank.ts'

const SOURCE = `
  const given = await world.give(1)
  const back = await world.take(given)
  await bank.look(given)
  return [given, await world.take(back)]`

describe('a value that can cross', () => {
  it('is the same after it was recorded, checkpointed, gone on from and repeated, and so is its guest', async () => {
    let value: unknown
    const taken: unknown[] = []
    const bank = openBank(
      capability({ name: 'world.give', description: 'Gives', effect: 'read', invoke: () => value }),
      capability({
        name: 'world.take',
        description: 'Takes',
        effect: 'read',
        invoke: (args: unknown) => {
          taken.push(args)
          return args
        },
      }),
    )
    const store = createMemoryRunStore()
    const [here, there] = [await bank.open(store), await bank.open(store)]
    const options = { grants: bank.grants, stateDigest: true }
    let runs = 0
    await fc.assert(
      fc.asyncProperty(arbitraryValue(), async (drawn) => {
        value = drawn
        // A view that stands alone crosses with its own part of its buffer.
        const expected = copyValue(drawn, DEFAULT_VALUE_LIMITS, 'value')
        taken.length = 0
        runs += 1
        const run = `r${runs}`
        await here.run(SOURCE, { ...options, run, stopAtCall: 3 })
        const outcome = await there.resume(run, options)
        if (outcome.status !== 'completed') throw new Error(JSON.stringify(outcome))
        const seen = [...taken, ...(outcome.value as unknown[])]
        expect(seen).toHaveLength(4)
        for (const one of seen) expect(differenceOf(expected, one)).toBeUndefined()
        const repeated = await here.repeat(run, options)
        expect(repeated).toMatchObject({ status: 'completed', stateDigest: outcome.stateDigest })
        expect(repeated.usage.fuel).toBe(outcome.usage.fuel)
      }),
      { numRuns: 8 },
    )
  })
})

describe('a value of many megabytes', () => {
  it('that crosses is kept, and the run can be taken up and repeated', async () => {
    const bank = openBank()
    const store = createMemoryRunStore()
    const [here, there] = [await bank.open(store), await bank.open(store)]
    const { grants } = bank
    const source = `
      const bytes = await bank.look(new Uint8Array(5e6))
      const text = await bank.look('x'.repeat(5e6))
      return [bytes.length, text.length]`
    await here.run(source, { run: 'r', grants, stopAtCall: 2 })
    const ends = { status: 'completed', value: [5e6, 5e6] }
    expect(await there.resume('r', { grants })).toMatchObject(ends)
    expect(await here.repeat('r', { grants })).toMatchObject(ends)
  })

  it('and is more than a log takes ends the run, the same each time that it is asked', async () => {
    const bank = openBank()
    const runtime = await bank.open(createMemoryRunStore())
    const ends = { status: 'failed', error: { code: 'value_too_large' } }
    const source = "await bank.look(1); return '\\x01'.repeat(12e6)" // six times as long in the log
    expect(await runtime.run(source, { run: 'r', grants: bank.grants })).toMatchObject(ends)
    for (const again of ['resume', 'repeat'] as const) {
      const outcome = await runtime[again]('r', { grants: bank.grants })
      expect(outcome).toMatchObject(ends)
      expect(outcome).not.toHaveProperty('value')
    }
  })
})
