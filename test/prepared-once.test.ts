import { expect, it } from 'vitest'
import { openNodeWorker as openReal } from '../host-bindings/system/worker-port.node.ts'
import type { PrepareMessage, PrepareReply } from '../src/component/core/prepare-protocol.ts'
import type { WorkerPort } from '../src/ports/worker-port.ts'
import { assemble } from '../src/wasm/assemble.testkit.ts'
import { openNodeWorker } from './prepared-once.ts'

const SCRIPT = new URL('../dist/src/entry/prepare-worker.node.js', import.meta.url)
const MODULE = assemble('(module (memory 1) (func (export "run") (loop $l (br $l))))')
const OTHER = assemble('(module (memory 1) (func (export "run") (unreachable)))')
const OPTIONS = { profile: 'v8', maxMemoryPages: 4 } as const

async function ask(
  port: WorkerPort,
  bytes = MODULE,
  options: PrepareMessage['options'] = OPTIONS,
): Promise<readonly PrepareReply[]> {
  const replies: PrepareReply[] = []
  await new Promise<void>((resolve, reject) => {
    port.listen((message) => {
      replies.push(message as PrepareReply)
      if ((message as PrepareReply).type !== 'progress') resolve()
    }, reject)
    port.post({ type: 'prepare', bytes, options })
  })
  await port.terminate()
  return replies
}

it('tells again what a Worker replied, of the same bytes and options and of no others', async () => {
  const real = await ask(openReal(SCRIPT))
  expect(real.at(-1)).toMatchObject({ type: 'prepared' })
  expect(await ask(openNodeWorker(SCRIPT))).toEqual(real)
  expect(await ask(openNodeWorker(SCRIPT))).toEqual(real)
  for (const [bytes, options] of [
    [OTHER, OPTIONS],
    [MODULE, { ...OPTIONS, maxMemoryPages: 5 }],
    [MODULE, { ...OPTIONS, profile: 'portable' }],
  ] as const) {
    const other = await ask(openReal(SCRIPT), bytes, options)
    expect(other).not.toEqual(real)
    expect(await ask(openNodeWorker(SCRIPT), bytes, options)).toEqual(other)
  }
})

it('keeps no failure', async () => {
  const cut = MODULE.slice(0, -2)
  for (let again = 0; again < 2; again += 1)
    expect(await ask(openNodeWorker(SCRIPT), cut)).toMatchObject([{ type: 'error', code: 'invalid_module' }])
})
