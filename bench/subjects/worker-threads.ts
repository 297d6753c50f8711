/**
 * worker_threads: a V8 isolate on a thread of its own. Not a security boundary (Node's built-ins are at hand);
 * here because it is what people reach for first.
 */
import { once } from 'node:events'
import { MessageChannel, Worker } from 'node:worker_threads'
import { checkedTrial, openingTrial, type Trial } from '../harness/trial.ts'
import { callLoopSource } from './guest-loops.ts'
import { countedHost, type HostCallShape } from './host-call-shapes.ts'
import type { Subject } from './subject.ts'

/** Evaluates each source it is sent as the body of an async function, and posts what that returned. */
const WORKER_SOURCE = `
const { parentPort, receiveMessageOnPort, workerData } = require('node:worker_threads')
const flag = new Int32Array(workerData.flag)
// A synchronous call: post, sleep until the host has answered, take the answer.
globalThis.callSync = (argument) => {
  parentPort.postMessage({ call: argument })
  Atomics.wait(flag, 0, 0)
  Atomics.store(flag, 0, 0)
  return receiveMessageOnPort(workerData.answers).message
}
globalThis.callAwaited = (argument) => new Promise((resolve) => {
  workerData.answers.once('message', resolve)
  parentPort.postMessage({ call: argument })
})
parentPort.on('message', async (source) => {
  const AsyncFunction = (async () => {}).constructor
  parentPort.postMessage({ result: await new AsyncFunction(source)() })
})
parentPort.postMessage({ ready: true })
`

interface Message {
  readonly call?: unknown
  readonly result?: unknown
}

interface Guest {
  /** Resolves with what the source, the body of an async function, returned. One at a time. */
  readonly evaluate: (source: string) => Promise<unknown>
  readonly close: () => Promise<void>
}

/** Opens a worker and waits until it listens; `answer` serves its calls, awaited or synchronous. */
async function openGuest(answer: (argument: unknown) => unknown = () => undefined): Promise<Guest> {
  const { port1, port2 } = new MessageChannel()
  const flag = new SharedArrayBuffer(4)
  const view = new Int32Array(flag)
  const worker = new Worker(WORKER_SOURCE, {
    eval: true,
    workerData: { flag, answers: port2 },
    transferList: [port2],
  })
  await once(worker, 'message')
  let resolveResult: (result: unknown) => void = () => {}
  let rejectResult: (error: unknown) => void = () => {}
  worker.on('error', (error) => rejectResult(error))
  worker.on('message', (message: Message) => {
    if ('result' in message) {
      resolveResult(message.result)
      return
    }
    port1.postMessage(answer(message.call))
    Atomics.store(view, 0, 1)
    Atomics.notify(view, 0)
  })
  return {
    evaluate: (source) =>
      new Promise((resolve, reject) => {
        resolveResult = resolve
        rejectResult = reject
        worker.postMessage(source)
      }),
    close: async () => {
      port1.close()
      await worker.terminate()
    },
  }
}

async function hostCallTrial(shape: HostCallShape): Promise<Trial> {
  const { answer, settle } = countedHost(shape)
  const guest = await openGuest(answer)
  const host = shape.awaited ? 'callAwaited' : 'callSync'
  await guest.evaluate(`globalThis.calls = ${callLoopSource(shape, 'value', host)}`)
  return {
    ...checkedTrial(shape.calls, () => guest.evaluate('return await calls()'), settle),
    dispose: () => guest.close(),
  }
}

export function openWorkerThreads(): Subject {
  const close = (guest: Guest): Promise<void> => guest.close()
  return {
    id: 'worker-threads',
    kind: 'sandbox',
    version: process.versions.node,
    note: 'V8 with its JIT on a thread of its own; no security boundary; sync calls by Atomics.wait',
    acquire: () => openingTrial(() => openGuest(), close),
    firstResult: () =>
      openingTrial(async () => {
        const guest = await openGuest()
        if ((await guest.evaluate('return 1 + 2')) !== 3) throw new Error('1 + 2 is 3')
        return guest
      }, close),
    hostCall: (shape) => () => hostCallTrial(shape),
    throughput: (program) => async () => {
      const guest = await openGuest()
      await guest.evaluate(program.source)
      return {
        ...checkedTrial(1, () => guest.evaluate('return run()'), program.check),
        dispose: () => guest.close(),
      }
    },
  }
}
