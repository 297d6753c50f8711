/**
 * What `src/entry/node.ts` opens Workers with in tests (see `vitest.config.ts`): real ones. What one that prepares modules
 * has replied is kept for the rest of the run, and told again where the same bytes are to be prepared in the same way.
 *
 * Each such Worker loads 14 MB of Binaryen and is thrown away: seconds for each runtime of a test that is about something
 * else. Workers that do prepare are the matter of `src/component/core/prepare-in-worker.test.ts`.
 */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { deserialize, serialize } from 'node:v8'
import { openNodeWorker as openWorker } from '../host-bindings/system/worker-port.node.ts'
import type { PrepareMessage, PrepareReply } from '../src/component/core/prepare-protocol.ts'
import type { WorkerPort } from '../src/ports/worker-port.ts'

export function openNodeWorker(script: URL): WorkerPort {
  const folder = process.env.CAISSON_TESTS_PREPARED
  return folder !== undefined && script.pathname.endsWith('/prepare-worker.node.js')
    ? openPreparing(script, folder)
    : openWorker(script)
}

function openPreparing(script: URL, folder: string): WorkerPort {
  let worker: WorkerPort | undefined
  let telling: NodeJS.Immediate | undefined
  let tell: (message: unknown) => void = () => {}
  let fail: (error: unknown) => void = () => {}
  return {
    listen(onMessage, onFailure) {
      tell = onMessage
      fail = onFailure
    },
    post(message, moved) {
      const path = join(folder, nameOf(script, message as PrepareMessage))
      if (existsSync(path)) {
        telling = setImmediate(() => {
          for (const reply of deserialize(readFileSync(path)) as PrepareReply[]) tell(reply)
        })
        return
      }
      const replies: unknown[] = []
      worker = openWorker(script)
      worker.listen(
        (reply) => {
          replies.push(reply)
          if ((reply as PrepareReply).type === 'prepared') keep(path, replies)
          tell(reply)
        },
        (error) => fail(error),
      )
      worker.post(message, moved)
    },
    async terminate() {
      clearImmediate(telling)
      await worker?.terminate()
    },
  }
}

/** Whole or not there: tests of several processes may prepare the same. */
function keep(path: string, replies: readonly unknown[]): void {
  const draft = `${path}.${process.pid}`
  writeFileSync(draft, serialize(replies))
  renameSync(draft, path)
}

/** The date of the built script: it may be built anew beside tests that are watched. */
function nameOf(script: URL, { bytes, options }: PrepareMessage): string {
  const { mtimeMs } = statSync(script)
  return createHash('sha256').update(`${mtimeMs}`).update(serialize(options)).update(bytes).digest('hex')
}
