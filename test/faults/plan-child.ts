/**
 * A process that runs plans and is killed when each run is before one of its operations on the disk:
 * `node plan-child.mjs ENGINES (STORE EFFECTS OPERATION)...`. The capability leaves a line in the file EFFECTS each time.
 */
import { appendFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { fileEngine } from '../../host-bindings/engines/file-engine.node.ts'
import { openRunStoreIn } from '../../host-bindings/store/node/directory-run-store.node.ts'
import { thisMachine } from '../../host-bindings/store/node/machine.node.ts'
import { openFolder } from '../../host-bindings/store/node/store-root.node.ts'
import { capability, openRuntime } from '../../src/entry/node.ts'
import { ENGINE_MANIFEST } from '../../src/isolate/engine-manifest.ts'
import { PLAN } from './paying-plan.ts'
import { watchFolder } from './watched-folder.ts'

const [, , engines = '', ...words] = process.argv
const source = fileEngine({ folder: pathToFileURL(engines), manifest: ENGINE_MANIFEST, profile: 'v8' })
let runs = words.length / 3

/** Stops a run before an operation; when all of them are stopped, the process is killed. */
const stopAt =
  (number: number) =>
  (operation: { readonly number: number }): undefined | Promise<never> => {
    if (number === 0 || operation.number < number) return
    if (operation.number === number) runs -= 1
    if (runs === 0) process.kill(process.pid, 'SIGKILL')
    return new Promise(() => {})
  }

async function begin(index: number): Promise<void> {
  const [store = '', effects = '', operation = ''] = words.slice(3 * index)
  const folder = watchFolder(await openFolder(store), { before: stopAt(Number(operation)) })
  const runtime = await openRuntime({
    capabilities: [
      capability({
        name: 'world.pay',
        description: 'Leaves a line',
        effect: 'write',
        invoke: (args: unknown) => {
          appendFileSync(effects, `${String(args)}\n`)
          return Number(args) + 1
        },
      }),
    ],
    store: await openRunStoreIn(folder, thisMachine()),
    engines: source,
    checkpoints: { every: { calls: 1 } },
  })
  const run = await runtime.propose(PLAN, { by: 'model', run: 'r' })
  await run.approve({ by: 'ann', digest: (await run.view()).request })
  await run.start({ by: 'ann' })
  await run.outcome()
  for (const { digest: request } of await run.requests())
    await run.decide({ request, by: 'ann', decision: 'approve' })
  await run.outcome()
}

await Promise.all(Array.from({ length: runs }, (_, index) => begin(index)))
process.exit(0)
