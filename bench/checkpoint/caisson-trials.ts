/** What the checkpoint suite asks, done by Caisson: through its public API where that does it, else by its parts. */
import { openRuntime, type Runtime } from '../../src/entry/node.ts'
import type { CheckpointKeys } from '../../src/snapshot/container/checkpoint-keys.ts'
import type { Trial } from '../harness/trial.ts'
import type { CheckpointTrials } from '../subjects/subject.ts'
import { CHAIN_LINKS, ChainedGuest, LIMITS, MAC_KEY, nextStep } from './chained-guest.ts'
import { longestBlock } from './longest-block.ts'
import { crowdMemoryTrial, crowdWakeTrial } from './parked-crowd.ts'
import { ALL_PAGES_OF_32_MB, FIRST_QUESTION, fewPagesOf16MB, SMALL_STEPS } from './programs.ts'

/** Steps before something is measured, so that every order of the program is there. */
const STEPS_BEFORE = 80

const PAGES_WRITTEN = 10

const START = { form: 'script', limits: LIMITS, grants: ['bench.next'] } as const

/** Small guests that are checkpointed in one run, so that reading the CPU clock does not count as much as they do. */
const SMALL_GUESTS = 4

/** Live memory of a guest that counts as small, bytes. */
const SMALL_BYTES = [150_000, 300_000] as const

/** A step of each guest, not timed, then its checkpoint against the one before. Chains are as long as those of kept runs. */
async function chainTrial(
  guests: readonly ChainedGuest[],
  steps: number,
  asked: 'size' | 'time',
): Promise<Trial> {
  const stepAll = async (): Promise<void> => {
    for (const guest of guests) await guest.step()
  }
  const checkpointAll = async (): Promise<number> => {
    let bytes = 0
    for (const guest of guests) bytes += (await guest.checkpoint()).length
    return bytes
  }
  for (let i = 0; i < steps; i++) await stepAll()
  await checkpointAll()
  return {
    operations: guests.length,
    before: async () => {
      await stepAll()
      if (guests.every(({ links }) => links < CHAIN_LINKS)) return
      for (const guest of guests) guest.endChain()
      await checkpointAll()
      await stepAll()
    },
    run: async () => {
      const bytes = await checkpointAll()
      return asked === 'size' ? bytes : undefined
    },
    dispose: () => {
      for (const guest of guests) guest.dispose()
    },
  }
}

async function smallChains(asked: 'size' | 'time', keys?: CheckpointKeys): Promise<Trial> {
  const guests: ChainedGuest[] = []
  for (let i = 0; i < SMALL_GUESTS; i++) guests.push(await ChainedGuest.start(SMALL_STEPS, keys))
  const trial = await chainTrial(guests, STEPS_BEFORE, asked)
  const [least, most] = SMALL_BYTES
  for (const { liveBytes } of guests) {
    if (liveBytes < least || liveBytes > most) throw new Error(`the guest is not small: ${liveBytes} bytes`)
  }
  return trial
}

async function fewPagesTrial(): Promise<Trial> {
  return chainTrial([await ChainedGuest.start(fewPagesOf16MB(PAGES_WRITTEN))], 2, 'time')
}

async function startPublic(
  source: string,
): Promise<{ readonly runtime: Runtime; readonly bytes: Uint8Array }> {
  const runtime = await openRuntime({ capabilities: [nextStep], checkpoints: { keys: MAC_KEY } })
  const guest = await runtime.start(source, START)
  const bytes = await guest.checkpoint()
  guest.dispose()
  return { runtime, bytes }
}

async function sizeTrial(source: string): Promise<Trial> {
  const { bytes } = await startPublic(source)
  return { operations: 1, run: () => bytes.length }
}

/** Giving the instance back, overwritten, is part of it. */
async function restoreTrial(): Promise<Trial> {
  const { runtime, bytes } = await startPublic(SMALL_STEPS)
  return {
    operations: 1,
    run: async () => {
      const guest = await runtime.restore(bytes, { grants: START.grants })
      if (guest.pending.length !== 1) throw new Error('the restored guest does not wait')
      guest.dispose()
      return undefined
    },
  }
}

async function chainRestoreTrial(): Promise<Trial> {
  const guest = await ChainedGuest.start(SMALL_STEPS)
  for (let i = 0; i < STEPS_BEFORE; i++) await guest.step()
  let head = await guest.checkpoint()
  while (guest.links < CHAIN_LINKS) {
    await guest.step()
    head = await guest.checkpoint()
  }
  return {
    operations: 1,
    run: async () => {
      await guest.restore(head)
      return undefined
    },
    dispose: () => guest.dispose(),
  }
}

/** Two guests and one instance: a step of one parks the other. */
async function wakeTrial(): Promise<Trial> {
  const runtime = await openRuntime({ capabilities: [nextStep], instances: 1 })
  const guests = [await runtime.start(SMALL_STEPS, START), await runtime.start(SMALL_STEPS, START)]
  return {
    operations: guests.length,
    run: async () => {
      for (const guest of guests) {
        const [call] = guest.pending
        if (call === undefined) throw new Error(`a guest ended: ${JSON.stringify(guest.outcome)}`)
        await guest.settle(call.id, 1)
      }
      return undefined
    },
    dispose: () => {
      for (const guest of guests) guest.dispose()
    },
  }
}

/** Every page was written to, and all of them are written down: nothing of the checkpoint before helps. */
async function blockTrial(): Promise<Trial> {
  const guest = await ChainedGuest.start(ALL_PAGES_OF_32_MB)
  return {
    operations: 1,
    before: async () => {
      guest.endChain()
      await guest.step()
    },
    run: () => longestBlock(() => guest.checkpoint()),
    dispose: () => guest.dispose(),
  }
}

export const CAISSON_CHECKPOINTS: CheckpointTrials = {
  step: () => smallChains('time'),
  'step-size': () => smallChains('size'),
  'step-unkeyed': () => smallChains('time', {}),
  'step-unkeyed-size': () => smallChains('size', {}),
  'first-size': () => sizeTrial(FIRST_QUESTION),
  size: () => sizeTrial(SMALL_STEPS),
  restore: restoreTrial,
  'restore-chain': chainRestoreTrial,
  wake: wakeTrial,
  'crowd-memory': crowdMemoryTrial,
  'crowd-wake': crowdWakeTrial,
  'few-pages': fewPagesTrial,
  block: blockTrial,
}
