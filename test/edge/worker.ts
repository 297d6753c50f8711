/** An edge worker as an embedder would write it: the engine is a static import, capabilities are granted. */
import { capability, openRuntime, type RunOptions } from '../../src/entry/edge.ts'
// The module is put beside the bundle by whoever deploys it.
// @ts-expect-error workerd turns this import into a WebAssembly.Module; TypeScript does not know.
import engine from './engine.wasm'

const lookup = capability({
  name: 'prices.lookup',
  description: 'Current price of one product',
  effect: 'read',
  invoke: (args) => ({ price: String((args as { sku: string }).sku).length * 1.5 }),
})

export default {
  async fetch(request: Request): Promise<Response> {
    const { source, ...options } = (await request.json()) as { source: string } & RunOptions
    const runtime = await openRuntime({ engine, capabilities: [lookup] })
    const outcome = await runtime.run(source, { ...options, seed: 1, stateDigest: true })
    return Response.json(outcome)
  },
}
