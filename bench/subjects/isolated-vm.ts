/** isolated-vm: a V8 isolate with a heap of its own, as a native addon. Taken along where it could be built. */
import { checkedTrial, openingTrial, type Trial } from '../harness/trial.ts'
import { callLoopSource } from './guest-loops.ts'
import { countedHost, type HostCallShape } from './host-call-shapes.ts'
import { importPackage, peerVersion } from './peer-package.ts'
import type { Subject } from './subject.ts'

interface CopyOptions {
  readonly arguments?: { readonly copy: true }
  readonly result?: { readonly copy?: true; readonly promise?: true }
}
interface Reference {
  readonly typeof: string
}
interface Context {
  evalSync(source: string, options?: { readonly copy: true }): unknown
  evalClosureSync(source: string, args: readonly unknown[], options?: CopyOptions): unknown
  evalClosure(source: string, args: readonly unknown[], options?: CopyOptions): Promise<unknown>
}
interface Isolate {
  createContextSync(): Context
  dispose(): void
}
interface Package {
  readonly default: {
    readonly Isolate: new (options: { readonly memoryLimit: number }) => Isolate
    readonly Callback: new (fn: (argument: never) => unknown) => unknown
    readonly Reference: new (value: unknown) => Reference
  }
}

const NAME = 'isolated-vm'

/**
 * Numbers and strings through a `Callback`; objects as JSON text through it, which beats copying a `Reference`'s
 * arguments; awaited calls through `apply` with a promised result, the only asynchronous way there is.
 */
function hostCallTrial(ivm: Package['default'], context: Context, shape: HostCallShape): Trial {
  const { answer, settle } = countedHost(shape)
  const source = (host: string): string => `${callLoopSource(shape, 'json', host)}; return calls()`
  if (shape.awaited) {
    const host = new ivm.Reference(async (text: string) => JSON.stringify(await answer(JSON.parse(text))))
    const call =
      'const host = (text) => $0.apply(undefined, [text], { result: { promise: true, copy: true } })'
    const calls = (): Promise<unknown> =>
      context.evalClosure(`${call}; ${source('host')}`, [host], { result: { promise: true, copy: true } })
    return checkedTrial(shape.calls, calls, settle)
  }
  const asText = typeof shape.argument === 'object'
  const host = new ivm.Callback(
    asText
      ? (text: string) => JSON.stringify(answer(JSON.parse(text)))
      : (argument: unknown) => answer(argument),
  )
  context.evalClosureSync(`globalThis.run = () => { const host = $0; ${source('host')} }`, [host])
  return checkedTrial(shape.calls, () => context.evalSync('run()', { copy: true }), settle)
}

export async function openIsolatedVm(): Promise<Subject> {
  if (
    !process.execArgv.includes('--no-node-snapshot') &&
    !process.env.NODE_OPTIONS?.includes('--no-node-snapshot')
  ) {
    throw new Error('isolated-vm needs node --no-node-snapshot')
  }
  const { default: ivm } = await importPackage<Package>(NAME)
  const open = (): { readonly isolate: Isolate; readonly context: Context } => {
    const isolate = new ivm.Isolate({ memoryLimit: 128 })
    return { isolate, context: isolate.createContextSync() }
  }
  const close = ({ isolate }: ReturnType<typeof open>): void => isolate.dispose()

  return {
    id: NAME,
    kind: 'sandbox',
    version: peerVersion(NAME),
    note: 'V8 with its JIT and a heap of its own; native addon, unmaintained for new Node versions at 5.x',
    acquire: () => openingTrial(open, close),
    firstResult: () =>
      openingTrial(() => {
        const guest = open()
        if (guest.context.evalSync('1 + 2') !== 3) throw new Error('1 + 2 is 3')
        return guest
      }, close),
    hostCall: (shape) => () => {
      const { isolate, context } = open()
      return { ...hostCallTrial(ivm, context, shape), dispose: () => isolate.dispose() }
    },
    throughput: (program) => () => {
      const { isolate, context } = open()
      context.evalSync(program.source)
      const run = (): unknown => context.evalSync('run()', { copy: true })
      return { ...checkedTrial(1, run, program.check), dispose: () => isolate.dispose() }
    },
  }
}
