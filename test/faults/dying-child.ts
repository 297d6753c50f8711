/**
 * A process that begins runs and is killed when each is before one of its operations on the disk:
 * `node CHILD.mjs ENGINES (STORE EFFECTS OPERATION)...`. The capability leaves a line in the file EFFECTS each time;
 * with an OPERATION of 0 the run is never stopped.
 */
import { appendFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { fileEngine } from '../../host-bindings/engines/file-engine.node.ts'
import { openRunStoreIn } from '../../host-bindings/store/node/directory-run-store.node.ts'
import { thisMachine } from '../../host-bindings/store/node/machine.node.ts'
import { openFolder } from '../../host-bindings/store/node/store-root.node.ts'
import { openRuntime, type Runtime } from '../../src/entry/node.ts'
import { ENGINE_MANIFEST } from '../../src/isolate/engine-manifest.ts'
import { payingWorld } from './paying-world.ts'
import { watchFolder } from './watched-folder.ts'

/** Does what the words of this process say, and ends it. @param calls between checkpoints */
export async function liveUntilKilled(
  calls: number,
  begin: (runtime: Runtime) => Promise<void>,
): Promise<never> {
  const [, , engines = '', ...words] = process.argv
  const source = fileEngine({ folder: pathToFileURL(engines), manifest: ENGINE_MANIFEST, profile: 'v8' })
  const runs = words.length / 3
  let going = runs
  /** Stops a run before an operation; when all of them are stopped, the process is killed. */
  const stopAt =
    (number: number) =>
    (operation: { readonly number: number }): undefined | Promise<never> => {
      if (number === 0 || operation.number < number) return
      if (operation.number === number) going -= 1
      if (going === 0) process.kill(process.pid, 'SIGKILL')
      return new Promise(() => {})
    }
  const live = async (index: number): Promise<void> => {
    const [store = '', effects = '', operation = ''] = words.slice(3 * index)
    const folder = watchFolder(await openFolder(store), { before: stopAt(Number(operation)) })
    const runtime = await openRuntime({
      capabilities: [payingWorld((amount) => appendFileSync(effects, `${amount}\n`))],
      store: await openRunStoreIn(folder, thisMachine()),
      engines: source,
      checkpoints: { every: { calls } },
    })
    await begin(runtime)
  }
  await Promise.all(Array.from({ length: runs }, (_, index) => live(index)))
  process.exit(0)
}
