/** A stepped guest that is asked for several things at once: each call is answered once, and whoever asks hears why not. */
import { describe, expect, it } from 'vitest'
import { createMemoryRunStore } from '../../host-bindings/store/memory-run-store.ts'
import { CaissonError, capability } from '../../src/entry/node.ts'
import { type Bank, endOf, openBank } from './bank.ts'

const SOURCE = 'const said = []; for (let i = 0; i < 3; i++) said.push(await bank.pay(i)); return said.join()'
const open = async (bank: Bank = openBank()) => ({ bank, runtime: await bank.open(createMemoryRunStore()) })

describe('a stepped guest', () => {
  it('that is told to finish twice, and to answer meanwhile, makes each call once', async () => {
    const { bank, runtime } = await open()
    const guest = await runtime.start(SOURCE, { grants: bank.grants })
    const asked = [guest.finish(), guest.invoke(1), guest.finish(), guest.settle(1, 9), guest.invoke(2)]
    const [first, , second] = await Promise.allSettled(asked)
    expect(first).toMatchObject({ value: { status: 'completed', value: '1,2,3' } })
    expect(second).toEqual(first)
    for (const { status, reason } of (await Promise.allSettled(asked)) as PromiseRejectedResult[]) {
      if (status === 'rejected') expect(CaissonError.is(reason, 'unknown_call')).toBe(true)
    }
    expect(bank.paid).toEqual([0, 1, 2])
  })

  it('is captured before it goes on, and not after it has ended', async () => {
    const { bank, runtime } = await open()
    const guest = await runtime.start(SOURCE, { grants: bank.grants })
    const before = guest.checkpoint()
    const finishing = guest.finish()
    const during = endOf(guest.checkpoint())
    const digest = endOf(guest.stateDigest())
    const again = await runtime.restore(await before, { grants: bank.grants })
    expect(again.pending.map(({ id }) => id)).toEqual([1])
    expect(await finishing).toMatchObject({ status: 'completed' })
    expect([await during, await digest]).toEqual(['isolate_destroyed', 'isolate_destroyed'])
    expect(bank.paid).toEqual([0, 1, 2])
  })

  it.each(['host', 'worker'] as const)(
    'that is disposed while it is captured gives its instance back (%s)',
    async (thread) => {
      const { bank, runtime } = await open()
      const source = 'const kept = new Uint8Array(5_000_000).fill(7); await bank.look(1); return kept[5]'
      for (let i = 0; i < 3; i += 1) {
        const guest = await runtime.start(source, { grants: bank.grants, thread })
        const capturing = endOf(guest.checkpoint())
        await Promise.resolve()
        await Promise.resolve()
        guest.dispose()
        expect(await capturing).toMatch(/done|isolate_destroyed/)
        expect(await endOf(guest.finish())).toBe('aborted')
      }
      expect(await runtime.run(source, { grants: bank.grants, thread })).toMatchObject({ value: 7 })
    },
  )

  it('whose restore is aborted at any moment leaves no place and no instance behind', async () => {
    const bank = openBank()
    const runtime = await bank.open(createMemoryRunStore(), { concurrency: 1, instances: 1 })
    const guest = await runtime.start(SOURCE, { grants: bank.grants })
    const bytes = await guest.checkpoint()
    guest.dispose()
    for (let turns = 0; turns < 30; turns += 1) {
      const stop = new AbortController()
      const restoring = runtime.restore(bytes, { grants: bank.grants, signal: stop.signal })
      for (let i = 0; i < turns; i += 1) await Promise.resolve()
      stop.abort()
      expect(await endOf(restoring.then((again) => again.finish()))).toBe('aborted')
    }
    expect(bank.paid).toEqual([])
    const again = await runtime.restore(bytes, { grants: bank.grants })
    await again.invoke(1, { confirm: true })
    expect(bank.paid).toEqual([0])
    again.dispose()
  })

  it('in doubt is not confirmed by a confirmation that was refused', async () => {
    const { bank, runtime } = await open(
      openBank(
        capability({
          name: 'bank.once',
          description: 'Pays a number',
          effect: 'write',
          output: {
            '~standard': { version: 1, vendor: 'test', validate: () => ({ issues: [{ message: 'no' }] }) },
          },
          invoke: () => expect.fail('was made'),
        } as never),
      ),
    )
    const guest = await runtime.start('return await bank.once()', { grants: bank.grants })
    const again = await runtime.restore(await guest.checkpoint(), { grants: bank.grants })
    const [settled, confirmed] = await Promise.all([
      endOf(again.settle(1, 'wrong')),
      endOf(again.invoke(1, { confirm: true })),
    ])
    expect([settled, confirmed]).toEqual(['invalid_result', 'unknown_call'])
    expect(again.inDoubt).toEqual([1])
    expect(await again.finish()).toMatchObject({ status: 'suspended', inDoubt: [1] })
  })
})

it('a kept run on a Worker thread is checkpointed, taken over and gone on with as on the host', async () => {
  const bank = openBank()
  const store = createMemoryRunStore()
  const options = { grants: bank.grants, thread: 'worker' as const, stateDigest: true }
  const straight = await (await bank.open(createMemoryRunStore())).run(SOURCE, {
    ...options,
    run: 's',
    seed: 1,
  })
  bank.paid.length = 0
  const [one, two] = [await bank.open(store), await bank.open(store)]
  await one.run(SOURCE, { ...options, run: 'r', seed: 1, stopAtCall: 2 })
  const both = await Promise.all([one, two].map((runtime) => endOf(runtime.resume('r', options))))
  expect(both.sort()).toEqual(['completed', 'store_conflict'])
  expect(bank.paid).toEqual([0, 1, 2])
  const repeated = await two.repeat('r', { ...options, thread: 'host' })
  expect(repeated).toMatchObject({ status: 'completed', value: '1,2,3' })
  expect(straight).toMatchObject({ value: '1,2,3' })
})
