/** quickjs-wasi: QuickJS-ng compiled to wasm, one wasm instance per VM. */
import { SMALL_STEPS } from '../checkpoint/programs.ts'
import { checkedTrial, openingTrial, type Trial } from '../harness/trial.ts'
import { callLoopSource } from './guest-loops.ts'
import { countedHost, type HostCallShape } from './host-call-shapes.ts'
import { importPackage, peerFile, peerVersion } from './peer-package.ts'
import type { Subject } from './subject.ts'

interface Handle {
  dispose(): void
  toNumber(): number
  toString(): string
}
interface Vm {
  readonly global: Handle
  readonly undefined: Handle
  evalCode(source: string): Handle
  callFunction(fn: Handle, self: Handle): Handle
  newFunction(name: string, fn: (...args: Handle[]) => Handle | undefined): Handle
  newPromise(): { readonly handle: Handle; resolve(value: Handle): void }
  newNumber(value: number): Handle
  newString(value: string): Handle
  setProp(target: Handle, name: string, value: Handle): void
  dump(handle: Handle): unknown
  executePendingJobs(): number
  snapshot(): unknown
  dispose(): void
}
interface Package {
  readonly QuickJS: {
    create(wasm: WebAssembly.Module): Promise<Vm>
    restore(snapshot: unknown, wasm: WebAssembly.Module): Promise<Vm>
    serializeSnapshot(snapshot: unknown): Uint8Array
    deserializeSnapshot(bytes: Uint8Array): unknown
  }
}

const NAME = 'quickjs-wasi'

function evaluate(vm: Vm, source: string): void {
  vm.evalCode(source).dispose()
}

/** A function of the guest by its global name, to call again and again. */
function guestFunction(vm: Vm, name: string): () => unknown {
  const fn = vm.evalCode(name)
  return () => {
    const result = vm.callFunction(fn, vm.undefined)
    const value = vm.dump(result)
    result.dispose()
    return value
  }
}

/** A promise of the guest, settled once the host's answer is there. */
function answerLater(vm: Vm, answer: () => unknown): Handle {
  const deferred = vm.newPromise()
  const settle = async (): Promise<void> => {
    const text = JSON.stringify(await answer())
    const string = vm.newString(text)
    deferred.resolve(string)
    string.dispose()
    vm.executePendingJobs()
  }
  void settle()
  return deferred.handle
}

/**
 * The host function of a shape. Objects travel as JSON text: faster here than `dump` and `hostToHandle`.
 *
 * The VM duplicates what the function returns and leaves the handle to us: each answer frees the one before, without
 * which the guest's memory grows with every call.
 */
function hostFunction(vm: Vm, shape: HostCallShape, answer: (argument: unknown) => unknown): Handle {
  let before: Handle | undefined
  const give = (handle: Handle): Handle => {
    before?.dispose()
    before = handle
    return handle
  }
  return vm.newFunction('host', (handle) => {
    if (handle === undefined) {
      answer(undefined)
      return vm.undefined
    }
    if (typeof shape.argument === 'number') return give(vm.newNumber(answer(handle.toNumber()) as number))
    const text = handle.toString()
    if (typeof shape.argument === 'string') return give(vm.newString(answer(text) as string))
    if (shape.awaited) return give(answerLater(vm, () => answer(JSON.parse(text))))
    return give(vm.newString(JSON.stringify(answer(JSON.parse(text)))))
  })
}

/** Starts the guest's asynchronous `calls()` and resolves with what it resolved with. */
function awaitedCalls(vm: Vm): () => Promise<unknown> {
  let arrived: (last: unknown) => void = () => {}
  const done = vm.newFunction('done', (handle) => {
    arrived(handle && vm.dump(handle))
    return vm.undefined
  })
  vm.setProp(vm.global, 'done', done)
  evaluate(vm, 'function start() { calls().then(done, (error) => done(String(error))) }')
  const start = guestFunction(vm, 'start')
  return () => {
    const last = new Promise((resolve) => {
      arrived = resolve
    })
    start()
    vm.executePendingJobs()
    return last
  }
}

function hostCallTrial(vm: Vm, shape: HostCallShape): Trial {
  const { answer, settle } = countedHost(shape)
  vm.setProp(vm.global, 'host', hostFunction(vm, shape, answer))
  evaluate(vm, callLoopSource(shape, 'json', 'host'))
  const calls = shape.awaited ? awaitedCalls(vm) : guestFunction(vm, 'calls')
  return checkedTrial(shape.calls, calls, settle)
}

/** A guest that waits for its first number, as bytes. */
async function waitingGuest({ QuickJS }: Package, engine: WebAssembly.Module): Promise<Uint8Array> {
  const vm = await QuickJS.create(engine)
  const next = vm.newFunction('next', () => vm.newPromise().handle)
  vm.setProp(vm.global, 'next', next)
  evaluate(vm, `const bench = { next }; globalThis.waiting = 1; (async () => {${SMALL_STEPS}})()`)
  const bytes = QuickJS.serializeSnapshot(vm.snapshot())
  vm.dispose()
  return bytes
}

/** Closing is not timed. */
async function restoreTrial(peer: Package, engine: WebAssembly.Module): Promise<Trial> {
  const { QuickJS } = peer
  const bytes = await waitingGuest(peer, engine)
  return openingTrial(
    () => QuickJS.restore(QuickJS.deserializeSnapshot(bytes), engine),
    (vm) => {
      const waiting = vm.dump(vm.evalCode('waiting'))
      vm.dispose()
      if (waiting !== 1) throw new Error('the restored guest is another one')
    },
  )
}

export async function openQuickjsWasi(): Promise<Subject> {
  const peer = await importPackage<Package>(NAME)
  const { QuickJS } = peer
  const engine = await WebAssembly.compile(peerFile(`${NAME}/quickjs.wasm`))
  const open = (): Promise<Vm> => QuickJS.create(engine)
  const close = (vm: Vm): void => vm.dispose()

  return {
    id: NAME,
    kind: 'sandbox',
    version: peerVersion(NAME),
    note: 'QuickJS-ng in wasm; one wasm instance per VM, module compiled once',
    acquire: () => openingTrial(open, close),
    firstResult: () =>
      openingTrial(async () => {
        const vm = await open()
        const handle = vm.evalCode('1 + 2')
        if (handle.toNumber() !== 3) throw new Error('1 + 2 is 3')
        handle.dispose()
        return vm
      }, close),
    hostCall: (shape) => async () => {
      const vm = await open()
      return { ...hostCallTrial(vm, shape), dispose: () => close(vm) }
    },
    throughput: (program) => async () => {
      const vm = await open()
      evaluate(vm, program.source)
      return { ...checkedTrial(1, guestFunction(vm, 'run'), program.check), dispose: () => close(vm) }
    },
    checkpoints: {
      size: async () => {
        const { length } = await waitingGuest(peer, engine)
        return { operations: 1, run: () => length }
      },
      restore: () => restoreTrial(peer, engine),
    },
  }
}
