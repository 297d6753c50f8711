/**
 * Caisson, through what its embedders use: `openRuntime`, `run`, `start` and `settle`, with the limits, the gate and
 * the fuel that are always there. Only `acquire` looks deeper, because no embedder can hold an isolate that has no
 * program.
 *
 * A guest that works in a loop (calls, programs) is parked on an awaited call between rounds: `settle` starts a
 * round, and the arguments of the next call say how it ended. That step is part of the figure.
 */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { systemClock } from '../../host-bindings/system/system-clock.ts'
import { type Capability, capability, type Guest, openRuntime, type Runtime } from '../../src/entry/node.ts'
import { ENGINE_MANIFEST } from '../../src/isolate/engine-manifest.ts'
import { CAISSON_CHECKPOINTS } from '../checkpoint/caisson-trials.ts'
import { acquireTrial, CAISSON_GUEST } from '../guest/caisson-trials.ts'
import { checkedTrial, type Trial } from '../harness/trial.ts'
import { DEADLINE_MEMORY_BYTES, DEADLINE_MS } from '../suites/deadline.ts'
import { createEnginePool, readEngineFile } from './engine-files.ts'
import { callLoopSource } from './guest-loops.ts'
import { countedHost, type HostCallShape } from './host-call-shapes.ts'
import type { Subject } from './subject.ts'

/** Far above what a bench uses up: what is measured is that they are counted. */
const LIMITS = { fuel: 2 ** 52, calls: 2 ** 31, bytesOut: 2 ** 31, bytesIn: 2 ** 31, wallMs: 86_400_000 }

/** Parks the guest until the next round. Never invoked: the bench settles it by hand. */
const nextRound = capability({
  name: 'bench.next',
  description: 'Ends a round of the bench and waits for the next one',
  effect: 'read',
  invoke: () => Promise.reject(new Error('settled by hand')),
})

/** The host's function of a shape, as a capability: granted, and without a schema, since peers have none either. */
function hostCapability(shape: HostCallShape, answer: (argument: unknown) => unknown): Capability {
  const description = 'Answers the calls of the bench'
  return shape.awaited
    ? capability({ name: 'host', description, effect: 'read', invoke: async (args) => answer(args) })
    : capability({ name: 'host', description, effect: 'read', sync: true, invoke: answer })
}

/** A guest that evaluates `round` each time it is told to; resolves with what that gave. */
async function roundsOf(guest: Guest): Promise<() => Promise<unknown>> {
  return async () => {
    const [parked] = guest.pending
    if (parked === undefined) throw new Error(`the guest ended: ${JSON.stringify(guest.outcome)}`)
    await guest.settle(parked.id, undefined)
    return guest.pending[0]?.args
  }
}

async function startRounds(runtime: Runtime, source: string, round: string, grants: readonly string[]) {
  const program = `${source}\nfor (let last; ; last = ${round}) await bench.next(last)`
  const guest = await runtime.start(program, {
    form: 'script',
    limits: LIMITS,
    guard: false, // rounds are the bench's own, and all alike
    grants: ['bench.next', ...grants],
  })
  return { next: await roundsOf(guest), dispose: () => guest.dispose() }
}

/** Looks at every call, as it does by default, and lets the calls of a bench be alike. */
const PATIENT = {
  identicalCalls: 1_000_000,
  identicalErrors: 1_000_000,
  alternations: 1_000_000,
  withoutProgress: 1_000_000,
}

async function syncCallTrial(shape: HostCallShape): Promise<Trial> {
  const { answer, settle } = countedHost(shape)
  const runtime = await openRuntime({ capabilities: [nextRound, hostCapability(shape, answer)] })
  const source = callLoopSource(shape, 'value', 'host')
  const { next, dispose } = await startRounds(runtime, source, 'calls()', ['host'])
  return { ...checkedTrial(shape.calls, next, settle), dispose }
}

/** Each timed run is a whole `run`, its start included: the driver and the gate answer the calls. */
async function awaitedCallTrial(shape: HostCallShape): Promise<Trial> {
  const { answer, settle } = countedHost(shape)
  const runtime = await openRuntime({ capabilities: [hostCapability(shape, answer)] })
  const program = `${callLoopSource(shape, 'value', 'host')}\ncalls()`
  const calls = async (): Promise<unknown> => {
    const outcome = await runtime.run(program, {
      form: 'script',
      limits: LIMITS,
      guard: PATIENT,
      grants: ['host'],
    })
    if (outcome.status !== 'completed') throw new Error(JSON.stringify(outcome))
    return outcome.value
  }
  return checkedTrial(shape.calls, calls, settle)
}

async function firstResultTrial(): Promise<Trial> {
  const runtime = await openRuntime()
  return checkedTrial(
    1,
    () => runtime.run('1 + 2'),
    (outcome) => {
      if ((outcome as { value?: unknown }).value !== 3) throw new Error('1 + 2 is 3')
    },
  )
}

/** CPU milliseconds of this process. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

async function endlessTrial(source: string): Promise<Trial> {
  const runtime = await openRuntime({ clock: { now: systemClock.now, monotonic: cpuMs } })
  const limits = { fuel: 2 ** 52, wallMs: DEADLINE_MS, memoryBytes: DEADLINE_MEMORY_BYTES }
  return {
    operations: 1,
    run: async () => {
      const start = cpuMs()
      const outcome = await runtime.run(source, { limits })
      const elapsed = cpuMs() - start
      const limit = outcome.status === 'exhausted' ? outcome.limit : outcome.status
      if (limit !== 'wall' && limit !== 'memory') throw new Error(`ended by ${limit}`)
      return elapsed * 1e6
    },
  }
}

/**
 * Bundled as a page would: the code of the entry, minified, and the engine file beside it. What is fetched when it is
 * first used (what runs plans, the reader of TypeScript, the parser of YAML) is no part of what a first guest needs.
 */
async function downloadTrial(): Promise<Trial> {
  const entry = fileURLToPath(new URL('../../src/entry/browser.ts', import.meta.url))
  const { outputFiles, metafile } = await build({
    entryPoints: [entry],
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    splitting: true,
    outdir: 'out',
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
  })
  const needed = new Set<string>()
  const need = (path: string): void => {
    if (needed.has(path)) return
    needed.add(path)
    for (const { path: other, kind } of metafile.outputs[path]?.imports ?? [])
      if (kind === 'import-statement') need(other)
  }
  for (const [path, { entryPoint }] of Object.entries(metafile.outputs))
    if (entryPoint?.endsWith('browser.ts')) need(path)
  const code = outputFiles.filter(({ path }) => [...needed].some((one) => path.endsWith(`/${one}`)))
  const files = [...code.map(({ contents }) => contents), readEngineFile('v8')]
  const bytes = files.reduce((sum, file) => sum + gzipSync(file, { level: 9 }).length, 0)
  return { operations: 1, run: () => bytes }
}

export async function openCaisson(): Promise<Subject> {
  const runtime = await openRuntime({ capabilities: [nextRound] })
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string
  }
  return {
    id: 'caisson',
    kind: 'sandbox',
    version,
    note: `${ENGINE_MANIFEST.id}, profile v8: exact fuel, deadline, memory cap and gate always on; one wasm instance per guest, overwritten in between`,
    acquire: async () => acquireTrial(await createEnginePool(systemClock.monotonic)),
    firstResult: firstResultTrial,
    hostCall: (shape) => () => (shape.awaited ? awaitedCallTrial(shape) : syncCallTrial(shape)),
    throughput: (program) => async () => {
      const { next, dispose } = await startRounds(runtime, program.source, 'run()', [])
      return { ...checkedTrial(1, next, program.check), dispose }
    },
    turn: (before, round) => async () => {
      const { next, dispose } = await startRounds(runtime, before, round, [])
      return { ...checkedTrial(1, next, () => {}), dispose }
    },
    endless: (source) => () => endlessTrial(source),
    download: downloadTrial,
    checkpoints: CAISSON_CHECKPOINTS,
    guest: CAISSON_GUEST,
  }
}
