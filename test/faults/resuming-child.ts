/**
 * A process that resumes kept runs when it is told to: `node resuming-child.mjs STORE EFFECTS ENGINES LEASE_MS`.
 *
 * Takes one JSON line on standard input for each run, and says on standard output how that came to rest. Its capability
 * leaves a line in the file EFFECTS each time, and answers when there is a file EFFECTS.RUN.
 */
import { appendFileSync, existsSync, writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import { fileEngine } from '../../host-bindings/engines/file-engine.node.ts'
import { openDirectoryRunStore } from '../../host-bindings/store/node/directory-run-store.node.ts'
import { CaissonError, capability, openRuntime, type Runtime } from '../../src/entry/node.ts'
import { ENGINE_MANIFEST } from '../../src/isolate/engine-manifest.ts'
import type { Ending, Order } from './resuming-processes.ts'

const [, , folder = '', effects = '', engines = '', leaseMs = ''] = process.argv

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
const say = (line: unknown): void => {
  writeSync(1, `${JSON.stringify(line)}\n`)
}

const store = await openDirectoryRunStore(folder)
const runtime = await openRuntime({
  capabilities: [
    capability({
      name: 'world.pay',
      description: 'Leaves a line, and answers when it may',
      effect: 'write',
      invoke: async (args: unknown) => {
        const { run, n } = args as { readonly run: string; readonly n: number }
        appendFileSync(effects, `${run} ${n}\n`)
        say({ paid: n })
        while (!existsSync(`${effects}.${run}`)) await pause(2)
        return n + 1
      },
    }),
  ],
  store,
  leaseMs: Number(leaseMs),
  engines: fileEngine({ folder: pathToFileURL(engines), manifest: ENGINE_MANIFEST, profile: 'v8' }),
  checkpoints: { every: { calls: 2 } },
})

async function endingOf(of: Runtime, { run, delayMs }: Order): Promise<Ending> {
  await pause(delayMs)
  try {
    const outcome = await of.resume(run, { grants: ['world.pay'] })
    const code = outcome.status === 'failed' ? outcome.error.code : undefined
    return { run, end: code ?? outcome.status }
  } catch (error) {
    if (!CaissonError.is(error)) throw error
    const { retryAfterMs } = error.details
    return { run, end: error.code, ...(typeof retryAfterMs === 'number' && { retryAfterMs }) }
  }
}

say({ ready: true })
for await (const line of createInterface({ input: process.stdin })) {
  void endingOf(runtime, JSON.parse(line) as Order).then(say)
}
await runtime.close()
await store.close()
