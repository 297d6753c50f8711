/**
 * run (vercel-labs): QuickJS-ng in a pooled worker thread, a fresh context for each program.
 *
 * A program's life cannot be taken apart from outside. Where only its inside counts, the guest calls a host
 * function at both ends of the part, and the time between the two calls is the figure.
 */
import { lookup, ONE_SHOT_VALUE, oneShotSource } from '../guest/programs.ts'
import { openingTrial, type Trial } from '../harness/trial.ts'
import { callLoopSource } from './guest-loops.ts'
import { countedHost, type HostCallShape } from './host-call-shapes.ts'
import { importPackage, peerVersion } from './peer-package.ts'
import type { Subject } from './subject.ts'

type HostFunctions = Readonly<Record<string, Readonly<Record<string, (...args: never[]) => unknown>>>>
interface RunInput {
  readonly source: string
  readonly hostFunctions?: HostFunctions
}
interface Runner {
  run(input: RunInput): Promise<{ readonly status: string; readonly value?: unknown }>
}
interface Package {
  createRunner(options: {
    readonly limits: Readonly<Record<string, number>>
    readonly syncHostFunctions?: HostFunctions
  }): Runner
}

const NAME = 'run'
const LIMITS = { timeoutMs: 60_000, maxBridgeRequests: 100_000, memoryLimitBytes: 256 * 1024 * 1024 }

async function complete(runner: Runner, input: RunInput): Promise<unknown> {
  const outcome = await runner.run(input)
  if (outcome.status !== 'completed') throw new Error(`run ended ${outcome.status}`)
  return outcome.value
}

/** Host functions that note when they were called. */
function stopwatch(): { readonly functions: HostFunctions; readonly elapsedNs: () => number } {
  let began = 0
  let ended = 0
  return {
    functions: {
      stopwatch: {
        begin: () => {
          began = performance.now()
        },
        end: () => {
          ended = performance.now()
        },
      },
    },
    elapsedNs: () => (ended - began) * 1e6,
  }
}

function hostCallTrial({ createRunner }: Package, shape: HostCallShape): Trial {
  const { answer, settle } = countedHost(shape)
  const { functions, elapsedNs } = stopwatch()
  const host = { host: { call: answer } }
  const runner = createRunner({ limits: LIMITS, ...(shape.awaited ? {} : { syncHostFunctions: host }) })
  const source = `${callLoopSource(shape, 'value', 'host.call')}
await stopwatch.begin()
const last = ${shape.awaited ? 'await ' : ''}calls()
await stopwatch.end()
return last`
  const hostFunctions = shape.awaited ? { ...functions, ...host } : functions
  return {
    operations: 1,
    run: async () => {
      settle(await complete(runner, { source, hostFunctions }))
      return elapsedNs() / shape.calls
    },
  }
}

function oneShotTrial(runner: Runner): Trial {
  let round = 0
  return {
    operations: 1,
    run: async () => {
      round += 1
      const source = oneShotSource('prices.lookup', round)
      const value = await complete(runner, { source, hostFunctions: { prices: { lookup } } })
      if (value !== ONE_SHOT_VALUE) throw new Error(`${String(value)} is not ${ONE_SHOT_VALUE}`)
      return undefined
    },
  }
}

export async function openRun(): Promise<Subject> {
  const run = await importPackage<Package>(NAME)
  const runner = run.createRunner({ limits: LIMITS })
  return {
    id: NAME,
    kind: 'sandbox',
    version: peerVersion(NAME),
    note: 'QuickJS-ng in wasm inside pooled worker threads; calls hop between threads',
    acquire: { unable: 'has no empty guest: a program is given and run in one go (see first-result)' },
    firstResult: () =>
      openingTrial(
        async () => {
          if ((await complete(runner, { source: 'return 1 + 2' })) !== 3) throw new Error('1 + 2 is 3')
        },
        () => {},
      ),
    hostCall: (shape) => () => hostCallTrial(run, shape),
    guest: { 'one-shot': () => oneShotTrial(runner) },
    throughput: (program) => () => {
      const { functions, elapsedNs } = stopwatch()
      const source = `${program.source}
await stopwatch.begin()
const result = globalThis.run()
await stopwatch.end()
return result`
      return {
        operations: 1,
        run: async () => {
          program.check(await complete(runner, { source, hostFunctions: functions }))
          return elapsedNs()
        },
      }
    },
  }
}
