/** Opens a component that was built before, from files beside the page, as docs/components.md shows. */
import { type Limits, openRuntime, type PrebuiltManifest } from 'caisson'
import { HOST_CALL, type ToldRun, toldRun } from './told-run.ts'

export interface OpenedInPage {
  readonly outcomes: readonly unknown[]
  /** Code of the error with which it was refused. */
  readonly refused?: string
}

export type Calls = readonly (readonly [name: string, args: readonly unknown[]])[]

declare global {
  interface Window {
    /** Calls exports of the component in a folder of the server; its `host-call` answers "NAME(ARGUMENTS)". */
    callComponent(folder: string, calls: Calls): Promise<OpenedInPage>
    /** The same, of the bytes of a component: metered in the page. */
    callBytes(url: string, calls: Calls): Promise<OpenedInPage>
    /** Runs a component whose `host-call` is answered later: "NAME(ARGUMENTS)". Its stack is held meanwhile. */
    runHeld(url: string, args: readonly unknown[], limits: Partial<Limits>): Promise<ToldRun>
    /** Opens one, and does what only one that was opened can do. */
    holdComponent(url: string): Promise<readonly unknown[]>
  }
}

const interfaces = { $root: { hostCall: (name: string, json: string) => `${name}(${json})` } }
const fetched = async (url: string): Promise<Uint8Array> =>
  new Uint8Array(await (await fetch(url)).arrayBuffer())

async function callAll(
  source: Uint8Array | { manifest: PrebuiltManifest; read(file: string): Promise<Uint8Array> },
  calls: Calls,
): Promise<OpenedInPage> {
  const runtime = await openRuntime()
  try {
    const component = await runtime.openComponent(source, { interfaces, limits: { fuel: 10_000_000 } })
    const outcomes: unknown[] = []
    for (const [name, args] of calls) outcomes.push(await component.call(name, args))
    return { outcomes }
  } catch (error) {
    return { outcomes: [], refused: String((error as { code?: string }).code ?? error) }
  } finally {
    await runtime.close()
  }
}

window.callComponent = async (folder, calls) => {
  const read = (file: string): Promise<Uint8Array> => fetched(`/${folder}/${file}`)
  const manifest = (await (await fetch(`/${folder}/component.json`)).json()) as PrebuiltManifest
  return callAll({ manifest, read }, calls)
}
window.callBytes = async (url, calls) => callAll(await fetched(url), calls)

window.runHeld = async (url, args, limits) => {
  const runtime = await openRuntime({ capabilities: [HOST_CALL] })
  try {
    const options = { grants: ['hostCall'], args, limits, wasi: {}, suspension: 'jspi' } as const
    return toldRun(await runtime.runComponent(await fetched(url), options))
  } finally {
    await runtime.close()
  }
}

window.holdComponent = async (url) => {
  const runtime = await openRuntime({ capabilities: [HOST_CALL] })
  const bytes = await fetched(url)
  const codeOf = (promise: Promise<unknown>): Promise<unknown> =>
    promise.then(
      () => 'no error',
      (error: unknown) => (error as { code?: string }).code ?? String(error),
    )
  try {
    const open = () => runtime.openComponent(bytes, { grants: ['hostCall'], suspension: 'jspi' })
    const component = await open()
    const parked = await component.call('run', ['a\nb'], { stopAtCall: 2 })
    // It has none by its type.
    const { checkpoint } = component as unknown as { checkpoint(): Promise<Uint8Array> }
    const meanwhile = [
      parked.status,
      component.state,
      await codeOf(component.call('totals')),
      await codeOf(checkpoint.call(component)),
    ]
    const gone = await component.goOn()
    const after = await component.call('totals')
    const left = await open()
    const leaving = left.call('run', ['a\nb'])
    await new Promise((resolve) => setTimeout(resolve, 0))
    left[Symbol.dispose]()
    const { error } = (await leaving) as { readonly error?: { readonly code?: string } }
    return [meanwhile, gone.status, (after as { value?: unknown }).value, error?.code]
  } finally {
    await runtime.close()
  }
}
