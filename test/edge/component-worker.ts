/** An edge worker that carries a component which was built before: its core modules are static imports. */
import { fromBase64 } from '../../src/base/base64.ts'
import { openRuntime, type PrebuiltManifest, type Suspension } from '../../src/entry/edge.ts'
// The files are put beside the bundle by whoever deploys it.
// @ts-expect-error workerd turns this import into a WebAssembly.Module; TypeScript does not know.
import core0 from './core-0.wasm'
// @ts-expect-error as above
import core1 from './core-1.wasm'
// @ts-expect-error as above
import core2 from './core-2.wasm'
// @ts-expect-error as above
import engine from './engine.wasm'
// @ts-expect-error as above
import other from './other.wasm'
// @ts-expect-error as above
import plain0 from './plain-0.wasm'
// @ts-expect-error as above
import plain1 from './plain-1.wasm'
// @ts-expect-error as above
import plain2 from './plain-2.wasm'

interface Job {
  readonly manifest: PrebuiltManifest
  readonly calls: readonly (readonly [name: string, args: readonly unknown[]])[]
  /** What is given as core modules: those of the build, one of another build, or bytes that are none of them. */
  readonly given: 'cores' | 'other' | 'bytes' | 'plain'
  /** Runs `plain`, which was not built to wait, with what `hostCall` answers later. */
  readonly waits?: Suspension | 'somehow'
  /** A checkpoint (base64) of a component that waits for the capability `hostCall`: it goes on, and is answered. */
  readonly from?: string
}

const cores: Readonly<Record<string, WebAssembly.Module>> = {
  'core-0.wasm': core0,
  'core-1.wasm': core1,
  'core-2.wasm': core2,
}
const plain: typeof cores = { 'core-0.wasm': plain0, 'core-1.wasm': plain1, 'core-2.wasm': plain2 }
const hostCall = {
  name: 'hostCall',
  description: 'Says what it is told.',
  effect: 'read',
  invoke: async (input: unknown) => `said ${(input as { arguments: string }).arguments}`,
} as const
const interfaces = { $root: { hostCall: (name: string, json: string) => `${name}(${json})` } }

export default {
  async fetch(request: Request): Promise<Response> {
    const { manifest, calls, given, from, waits } = (await request.json()) as Job
    const runtime = await openRuntime({ engine, capabilities: [hostCall] })
    const read = (file: string): WebAssembly.Module | Uint8Array =>
      ({ bytes: new Uint8Array(8), other, plain: plain[file], cores: cores[file] })[
        given
      ] as WebAssembly.Module
    try {
      if (waits !== undefined) {
        const how = waits === 'somehow' ? {} : { suspension: waits }
        const options = { grants: ['hostCall'], args: ['a\nb\nc'], ...how }
        const ran = await runtime.runComponent({ manifest, read }, options)
        return Response.json({ ...ran, usage: { fuel: ran.usage.fuel, calls: ran.usage.calls } })
      }
      if (from !== undefined) {
        const options = { grants: ['hostCall'], from: fromBase64(from), nowMs: 1_700_000_000_000 }
        const parked = await runtime.openComponent({ manifest, read }, options)
        const { status, usage } = await parked.goOn()
        return Response.json({ status, fuel: usage.fuel, digest: parked.stateDigest() })
      }
      const component = await runtime.openComponent({ manifest, read }, { interfaces })
      const outcomes: unknown[] = []
      for (const [name, args] of calls) outcomes.push(await component.call(name, args))
      return Response.json({ outcomes })
    } catch (error) {
      return Response.json({ refused: String((error as { code?: string }).code ?? error) })
    } finally {
      await runtime.close()
    }
  },
}
