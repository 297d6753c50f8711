/** When kept runs are checkpointed: going on costs what the policy allows, and not what the run ever did. */
import { describe, expect, it } from 'vitest'
import { createMemoryRunStore } from '../../host-bindings/store/memory-run-store.ts'
import {
  type CheckpointPolicy,
  capability,
  type Outcome,
  openRuntime,
  type RunHead,
  type RunStore,
  type Runtime,
} from '../../src/entry/node.ts'
import { boundStore } from './bound-store.ts'

/** A program that is broken off at every call that `breaksAt` names. */
function openWorld(breaksAt: (call: number) => boolean = () => false) {
  let calls = 0
  let stop = new AbortController()
  const step = capability({
    name: 'world.step',
    description: 'Counts',
    effect: 'read',
    idempotent: true,
    invoke: async () => {
      calls += 1
      // A program that waits for nobody is not held up for a checkpoint, and is far before the next one is written.
      const written = heads.length
      for (let turn = 0; turn < 100 && heads.length === written; turn += 1)
        await new Promise((resolve) => setImmediate(resolve))
      if (!breaksAt(calls)) return calls
      stop.abort()
      return new Promise<never>(() => {})
    },
  })
  const heads: RunHead[] = []
  const memory = boundStore(createMemoryRunStore())
  const store: RunStore = {
    ...memory,
    setHead: async (run, head, lease) => {
      await memory.setHead(run, head, lease)
      heads.push(head)
    },
  }
  /** A process of its own. */
  const using = async (
    every: CheckpointPolicy,
    work: (runtime: Runtime, signal: AbortSignal) => Promise<Outcome>,
  ): Promise<Outcome> => {
    stop = new AbortController()
    const runtime = await openRuntime({ store, capabilities: [step], checkpoints: { every } })
    try {
      return await work(runtime, stop.signal)
    } finally {
      await runtime.close()
    }
  }
  return { store, heads, using }
}

const GRANTS = ['world.step']

function source(change: string): string {
  return `let kept = []
for (let i = 0; i < 40; i++) { const n = await world.step({}); ${change} }
return kept.length`
}

async function chainsOf(change: string): Promise<number[]> {
  const { heads, using } = openWorld()
  const outcome = await using({ calls: 1 }, (runtime) =>
    runtime.run(source(change), { run: 'r', grants: GRANTS }),
  )
  expect(outcome).toMatchObject({ status: 'completed' })
  return heads.map(({ chain }) => chain.length)
}

describe('a checkpoint of a kept run', () => {
  it('stands alone again once those written since then are as large', async () => {
    const small = await chainsOf('kept[0] = n')
    const large = await chainsOf('kept = Array.from({ length: 5_000 }, (_, j) => j * n)')
    expect(Math.max(...small)).toBeGreaterThan(5)
    expect(Math.max(...large)).toBeGreaterThan(1)
    expect(Math.max(...large)).toBeLessThan(5)
  })

  it('is due also where no process by itself has done as much', async () => {
    const { heads, using } = openWorld((call) => call % 4 === 0)
    const every = { calls: 10, ms: 1e9 }
    let outcome = await using(every, (runtime, signal) =>
      runtime.run(source('kept[n] = i'), { run: 'r', grants: GRANTS, signal }),
    )
    const positions: number[] = []
    while (outcome.status !== 'completed') {
      expect(outcome).toMatchObject({ status: 'failed', error: { code: 'aborted' } })
      positions.push(heads.at(-1)?.position ?? 0)
      outcome = await using(every, (runtime, signal) => runtime.resume('r', { grants: GRANTS, signal }))
    }
    // Three calls in each process: at most every fourth one leaves no newer checkpoint behind.
    expect(new Set(positions).size).toBeGreaterThanOrEqual(Math.floor(positions.length / 4))
    expect(positions.at(-1)).toBeGreaterThan(0)
  })
})
