/** Opens a component that was built before, from files beside the page, as docs/components.md shows. */
import { openRuntime, type PrebuiltManifest } from 'caisson'

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
