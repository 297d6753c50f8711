/**
 * Threads that die, never start or fall silent, and hosts without room for another memory. To a kept run that is as if
 * its process had been killed: it goes on from its last checkpoint and its log, and pays nothing twice. Whoever waits
 * gets an answer, and whoever stops waiting leaves no thread behind.
 */
import { describe, expect, it, vi } from 'vitest'
import { createMemoryRunStore } from '../../host-bindings/store/memory-run-store.ts'
import { capability, type Outcome, openRuntime, type RunStore, type Runtime } from '../../src/entry/node.ts'
import { type MortalWorkers, mortalWorkers } from '../checkpoints/mortal-workers.ts'
import { type Bank, endOf, openBank } from './bank.ts'

const SOURCE = 'const said = []; for (let i = 0; i < 3; i++) said.push(await bank.pay(i)); return said.join()'
const IN_WORKER = { thread: 'worker', run: 'r' } as const

interface Setting {
  readonly store: RunStore
  readonly bank: Bank
  readonly workers: MortalWorkers
  readonly runtime: Runtime
}

async function setting(): Promise<Setting> {
  const store = createMemoryRunStore()
  const bank = openBank()
  const workers = mortalWorkers()
  const { capabilities } = bank
  const runtime = await workers.open({ capabilities, store, checkpoints: { every: { calls: 1 } } })
  return { store, bank, workers, runtime }
}

/** The `nth` message of this type meets this fate. */
const at = (type: string, nth: number, fate: 'dies' | 'falls silent'): MortalWorkers['fate'] => {
  let times = 0
  return (told) => {
    if (told === type) times += 1
    return told === type && times === nth ? fate : 'lives'
  }
}

const gone = (workers: MortalWorkers): Promise<void> =>
  expect.poll(() => workers.living, { timeout: 10_000 }).toBe(0)

describe('a Worker that dies', () => {
  it.each([
    ['open', 1],
    ['start', 1],
    ['settle', 2],
    // The first one: whether there is a second depends on how long writing that takes.
    ['capture', 1],
  ])(
    'when it is told to %s breaks a kept run off, which goes on with nothing done twice',
    async (type, nth) => {
      const { bank, workers, runtime } = await setting()
      const { grants } = bank
      workers.fate = at(type, nth, 'dies')
      expect(await endOf(runtime.run(SOURCE, { ...IN_WORKER, grants, stateDigest: true }))).toBe(
        'machine_lost',
      )
      const outcome = await runtime.resume('r', { grants })
      expect(outcome).toMatchObject({ status: 'completed', value: '1,2,3' })
      expect(bank.paid).toEqual([0, 1, 2])
      await gone(workers)
    },
  )

  it('at its end takes nothing but the digest', async () => {
    const { bank, workers, runtime } = await setting()
    workers.fate = at('digest', 1, 'dies')
    const outcome = await runtime.run(SOURCE, { ...IN_WORKER, grants: bank.grants, stateDigest: true })
    expect(outcome).toMatchObject({ status: 'completed', value: '1,2,3' })
    expect(outcome).not.toHaveProperty('stateDigest')
  })

  it('each time breaks the run off each time that it is resumed, and never goes on by itself', async () => {
    const { store, bank, workers, runtime } = await setting()
    const { grants } = bank
    let lives = 0
    workers.fate = (type) => {
      if (type === 'open') lives += 1
      return type === 'settle' ? 'dies' : 'lives'
    }
    const ends: Outcome[] = [await runtime.run(SOURCE, { ...IN_WORKER, grants })]
    const entries = async (): Promise<number> => (await store.entries('r', 0, 1_000)).length
    const before = await entries()
    for (let i = 0; i < 2; i += 1) ends.push(await runtime.resume('r', { grants, thread: 'worker' }))
    for (const end of ends) {
      expect(end).toMatchObject({ status: 'failed', error: { code: 'machine_lost' }, resumable: true })
    }
    expect(lives).toBe(3)
    expect(bank.paid).toEqual([0])
    expect(await entries()).toBeLessThan(before + 10)
    expect(await runtime.resume('r', { grants })).toMatchObject({ value: '1,2,3' })
    expect(bank.paid).toEqual([0, 1, 2])
  })
})

describe('a Worker that falls silent', () => {
  /** Aborts as soon as a Worker was told this, and has not heard it. */
  const silentAt = (workers: MortalWorkers, type: string): AbortSignal => {
    const controller = new AbortController()
    workers.fate = (told) => {
      if (told !== type) return 'lives'
      setTimeout(() => controller.abort(), 1)
      return 'falls silent'
    }
    return controller.signal
  }

  it.each(['open', 'restore'])(
    'when it is told to %s is given up when the restore is aborted',
    async (type) => {
      const { bank, workers, runtime } = await setting()
      const { grants } = bank
      const guest = await runtime.start(SOURCE, { grants })
      const checkpoint = await guest.checkpoint()
      guest.dispose()
      const signal = silentAt(workers, type)
      expect(await endOf(runtime.restore(checkpoint, { grants, thread: 'worker', signal }))).toBe('aborted')
      await gone(workers)
      const again = await runtime.restore(checkpoint, { grants })
      expect(again.pending).toHaveLength(1)
      again.dispose()
    },
  )

  it.each(['restore', 'capture', 'digest'])(
    'when it is told to %s is given up when the run is aborted, which can be gone on with',
    async (type) => {
      const { bank, workers, runtime } = await setting()
      const { grants } = bank
      await runtime.run(SOURCE, { run: 'r', grants, stopAtCall: 2 })
      const signal = silentAt(workers, type)
      const resumed = runtime.resume('r', { grants, thread: 'worker', signal, stateDigest: true })
      expect(await endOf(resumed)).toBe(type === 'digest' ? 'completed' : 'aborted')
      await gone(workers)
      expect(await runtime.resume('r', { grants })).toMatchObject({ value: '1,2,3' })
      expect(bank.paid).toEqual([0, 1, 2])
    },
  )
})

describe('a host without room for another memory', () => {
  it('breaks off a kept run that it cannot wake, which goes on when there is room', async () => {
    const store = createMemoryRunStore()
    let letGo = (): void => {}
    let waits = false
    const wait = capability({
      name: 'bank.wait',
      description: 'Answers when it may',
      effect: 'read',
      invoke: () => {
        waits = true
        return new Promise<void>((resolve) => {
          letGo = resolve
        })
      },
    })
    const bank = openBank(wait)
    const runtime = await openRuntime({
      capabilities: bank.capabilities,
      store,
      instances: 1,
      keepInstances: 0,
    })
    const { grants } = bank
    const running = runtime.run(`await bank.wait(); ${SOURCE}`, { run: 'r', grants })
    await expect.poll(() => waits).toBe(true)
    const other = await runtime.start('await bank.look(1)', { grants }) // takes the one instance
    other.dispose() // and it is not kept
    const memory = vi.spyOn(WebAssembly, 'Memory').mockImplementation(
      class {
        constructor() {
          throw new RangeError('WebAssembly.Memory(): could not allocate memory')
        }
      } as never,
    )
    letGo()
    expect(await running).toMatchObject({
      status: 'failed',
      error: { code: 'machine_lost' },
      resumable: true,
    })
    memory.mockRestore()
    expect(await runtime.resume('r', { grants })).toMatchObject({ value: '1,2,3' })
    expect(bank.paid).toEqual([0, 1, 2])
    await runtime.close()
  })
})
