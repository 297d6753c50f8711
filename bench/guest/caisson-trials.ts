/** What the guest suite asks, done by Caisson: through its public API where that does it, else by its parts. */
import { packagedTypeScript } from '../../host-bindings/engines/packaged-typescript.ts'
import { systemClock } from '../../host-bindings/system/system-clock.ts'
import { capability, openRuntime } from '../../src/entry/node.ts'
import type { InstancePool } from '../../src/isolate/instance-pool.ts'
import { Isolate } from '../../src/isolate/isolate.ts'
import { DEFAULT_LIMITS } from '../../src/machine/limits.ts'
import { TypeScriptDesk } from '../../src/runtime/typescript-desk.ts'
import { PAGE_BYTES, PageTree } from '../../src/snapshot/page-tree.ts'
import { checkedTrial, type Trial } from '../harness/trial.ts'
import { createEnginePool } from '../subjects/engine-files.ts'
import type { GuestTrials } from '../subjects/subject.ts'
import { longSource, lookup, ONE_SHOT_VALUE, oneShotSource } from './programs.ts'

/** Takes an isolate and gives it back, the overwriting of its memory included: a pool only moves that work. */
export function acquireTrial(pool: InstancePool): Trial {
  const noCalls = { call: () => undefined }
  pool.warm(1)
  return {
    operations: 1,
    run: () => {
      new Isolate(pool.acquire(), noCalls).dispose()
      return undefined
    },
  }
}

/** Bytes of the pages that are not zero before a program starts. */
export function liveImageTrial(pool: InstancePool): Trial {
  let pages = 0
  for (const _ of pool.base.pages.changesSince(PageTree.empty)) pages += 1
  return { operations: 1, run: () => pages * PAGE_BYTES }
}

/** CPU microseconds of this process. */
function cpuMicroseconds(): number {
  const { user, system } = process.cpuUsage()
  return user + system
}

/** CPU time between two calls of a fresh guest, with `act` in between. */
async function firstUseTrial(act: string): Promise<Trial> {
  let marks: number[] = []
  const mark = capability({
    name: 'bench.mark',
    description: 'Reads the clock of the process',
    effect: 'read',
    sync: true,
    invoke: () => {
      marks.push(cpuMicroseconds())
    },
  })
  const runtime = await openRuntime({ capabilities: [mark] })
  const source = `bench.mark(); const value = ${act}; bench.mark(); return value !== undefined`
  return {
    operations: 1,
    run: async () => {
      marks = []
      const outcome = await runtime.run(source, { grants: ['bench.mark'], form: 'body' })
      if (outcome.status !== 'completed' || outcome.value !== true) throw new Error(JSON.stringify(outcome))
      const [began = Number.NaN, ended = Number.NaN] = marks
      return (ended - began) * 1_000
    },
    dispose: () => runtime.close(),
  }
}

async function typeScriptTrial(asked: 'first' | 'cached'): Promise<Trial> {
  const pool = await createEnginePool(systemClock.monotonic)
  const { engine, base } = pool
  const desk = new TypeScriptDesk({
    machines: { engine, base, scout: () => ({ pool, tools: pool.tools }) } as never,
    load: packagedTypeScript,
    monotonic: systemClock.monotonic,
  })
  let round = 0
  const prepare = async (): Promise<undefined> => {
    if (asked === 'first') round += 1
    const text = { source: longSource(round), fileName: 'long.ts', form: 'module' } as const
    const prepared = await desk.prepare(text, { limits: DEFAULT_LIMITS })
    if (!('code' in prepared)) throw new Error(JSON.stringify(prepared))
    return undefined
  }
  await prepare()
  return { operations: 1, run: prepare, dispose: () => desk.close() }
}

async function oneShotTrial(): Promise<Trial> {
  const price = capability({
    name: 'prices.lookup',
    description: 'Price of a product',
    effect: 'read',
    invoke: lookup,
  })
  const runtime = await openRuntime({ capabilities: [price] })
  let round = 0
  const trial = checkedTrial(
    1,
    () => {
      round += 1
      const source = oneShotSource('prices.lookup', round)
      return runtime.run(source, { grants: ['prices.lookup'], language: 'ts' })
    },
    (outcome) => {
      if ((outcome as { value?: unknown }).value !== ONE_SHOT_VALUE) throw new Error(JSON.stringify(outcome))
    },
  )
  return { ...trial, dispose: () => runtime.close() }
}

export const CAISSON_GUEST: GuestTrials = {
  acquire: async () => acquireTrial(await createEnginePool(systemClock.monotonic)),
  'live-image': async () => liveImageTrial(await createEnginePool(systemClock.monotonic)),
  'first-url': () => firstUseTrial("new URL('https://example.com/a?b=1').href"),
  'first-abort': () => firstUseTrial('new AbortController().signal.aborted'),
  'first-encoding': () => firstUseTrial("new TextEncoder().encode('x').length"),
  'first-stream': () =>
    firstUseTrial('await new ReadableStream({ start: (c) => c.enqueue(1) }).getReader().read()'),
  'first-form': () => firstUseTrial("new FormData().has('a')"),
  'typescript-first': () => typeScriptTrial('first'),
  'typescript-cached': () => typeScriptTrial('cached'),
  'one-shot': oneShotTrial,
}
