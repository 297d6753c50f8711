/** quickjs-emscripten: QuickJS compiled to wasm, with handles to guest values. One wasm instance for all runtimes. */
import { checkedTrial, openingTrial, type Trial } from '../harness/trial.ts'
import { callLoopSource } from './guest-loops.ts'
import { countedHost, type HostCallShape } from './host-call-shapes.ts'
import { importPackage, peerVersion } from './peer-package.ts'
import type { Subject } from './subject.ts'

interface Handle {
  dispose(): void
}
interface Context {
  readonly runtime: { executePendingJobs(): unknown }
  readonly global: Handle
  readonly undefined: Handle
  evalCode(source: string): unknown
  unwrapResult(result: unknown): Handle
  callFunction(fn: Handle, self: Handle): unknown
  newFunction(name: string, fn: (...args: Handle[]) => Handle | undefined): Handle
  newPromise(): { readonly handle: Handle; resolve(value: Handle): void }
  newNumber(value: number): Handle
  newString(value: string): Handle
  getNumber(handle: Handle): number
  getString(handle: Handle): string
  setProp(target: Handle, name: string, value: Handle): void
  getProp(target: Handle, name: string): Handle
  dump(handle: Handle): unknown
  dispose(): void
}
interface Runtime {
  newContext(): Context
  dispose(): void
}
interface Package {
  getQuickJS(): Promise<{ newRuntime(): Runtime }>
}

const NAME = 'quickjs-emscripten'

function evaluate(context: Context, source: string): void {
  context.unwrapResult(context.evalCode(source)).dispose()
}

/** A function of the guest by its global name, to call again and again. */
function guestFunction(context: Context, name: string): () => unknown {
  const fn = context.getProp(context.global, name)
  return () => {
    const result = context.unwrapResult(context.callFunction(fn, context.undefined))
    const value = context.dump(result)
    result.dispose()
    return value
  }
}

/** A promise of the guest, settled once the host's answer is there. */
function answerLater(context: Context, answer: () => unknown): Handle {
  const deferred = context.newPromise()
  const settle = async (): Promise<void> => {
    const text = JSON.stringify(await answer())
    const string = context.newString(text)
    deferred.resolve(string)
    string.dispose()
    context.runtime.executePendingJobs()
  }
  void settle()
  return deferred.handle
}

/** The host function of a shape. Objects travel as JSON text: faster here than property by property. */
function hostFunction(
  context: Context,
  shape: HostCallShape,
  answer: (argument: unknown) => unknown,
): Handle {
  return context.newFunction('host', (handle) => {
    if (handle === undefined) {
      answer(undefined)
      return undefined
    }
    if (typeof shape.argument === 'number') {
      return context.newNumber(answer(context.getNumber(handle)) as number)
    }
    const text = context.getString(handle)
    if (typeof shape.argument === 'string') return context.newString(answer(text) as string)
    if (shape.awaited) return answerLater(context, () => answer(JSON.parse(text)))
    return context.newString(JSON.stringify(answer(JSON.parse(text))))
  })
}

/** Starts the guest's asynchronous `calls()` and resolves with what it resolved with. */
function awaitedCalls(context: Context): () => Promise<unknown> {
  let arrived: (last: unknown) => void = () => {}
  const done = context.newFunction('done', (handle) => {
    arrived(handle && context.dump(handle))
    return undefined
  })
  context.setProp(context.global, 'done', done)
  evaluate(context, 'function start() { calls().then(done, (error) => done(String(error))) }')
  const start = guestFunction(context, 'start')
  return () => {
    const last = new Promise((resolve) => {
      arrived = resolve
    })
    start()
    context.runtime.executePendingJobs()
    return last
  }
}

function hostCallTrial(context: Context, shape: HostCallShape): Trial {
  const { answer, settle } = countedHost(shape)
  context.setProp(context.global, 'host', hostFunction(context, shape, answer))
  evaluate(context, callLoopSource(shape, 'json', 'host'))
  const calls = shape.awaited ? awaitedCalls(context) : guestFunction(context, 'calls')
  return checkedTrial(shape.calls, calls, settle)
}

export async function openQuickjsEmscripten(): Promise<Subject> {
  const { getQuickJS } = await importPackage<Package>(NAME)
  const quickjs = await getQuickJS()
  const open = (): { readonly runtime: Runtime; readonly context: Context } => {
    const runtime = quickjs.newRuntime()
    return { runtime, context: runtime.newContext() }
  }
  const close = ({ runtime, context }: ReturnType<typeof open>): void => {
    context.dispose()
    runtime.dispose()
  }

  return {
    id: NAME,
    kind: 'sandbox',
    version: peerVersion(NAME),
    note: 'QuickJS (bellard) in wasm; all runtimes share one wasm instance and its memory',
    acquire: () => openingTrial(open, close),
    firstResult: () =>
      openingTrial(() => {
        const guest = open()
        const handle = guest.context.unwrapResult(guest.context.evalCode('1 + 2'))
        if (guest.context.getNumber(handle) !== 3) throw new Error('1 + 2 is 3')
        handle.dispose()
        return guest
      }, close),
    // These guests stay open: a runtime that still has handles aborts the shared wasm instance when disposed.
    hostCall: (shape) => () => hostCallTrial(open().context, shape),
    throughput: (program) => () => {
      const { context } = open()
      evaluate(context, program.source)
      return checkedTrial(1, guestFunction(context, 'run'), program.check)
    },
  }
}
