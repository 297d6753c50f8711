/**
 * A process that runs a kept program and is killed before one of its operations on the disk:
 * `node run-child.mjs STORE EFFECTS ENGINES [OPERATION]`. Its capability leaves a line in the file EFFECTS each time.
 */
import { appendFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { fileEngine } from '../../host-bindings/engines/file-engine.node.ts'
import { openRunStoreIn } from '../../host-bindings/store/node/directory-run-store.node.ts'
import { thisMachine } from '../../host-bindings/store/node/machine.node.ts'
import { openFolder } from '../../host-bindings/store/node/store-root.node.ts'
import { capability, openRuntime } from '../../src/entry/node.ts'
import { ENGINE_MANIFEST } from '../../src/isolate/engine-manifest.ts'
import { PROGRAM } from './paying-program.ts'
import { watchFolder } from './watched-folder.ts'

const [, , store = '', effects = '', engines = '', operation = '0'] = process.argv

const folder = watchFolder(await openFolder(store), {
  before: ({ number }) => {
    if (number === Number(operation)) process.kill(process.pid, 'SIGKILL')
  },
})
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
  engines: fileEngine({ folder: pathToFileURL(engines), manifest: ENGINE_MANIFEST, profile: 'v8' }),
  checkpoints: { every: { calls: 2 } },
})
await runtime.run(PROGRAM, { run: 'r', grants: ['world.pay'], seed: 1 })
process.exit(0)
