/** An edge worker as an embedder would write it: the engine is a static import, capabilities are granted. */
import { capability, openRuntime, type Plan, type RunOptions } from '../../src/entry/edge.ts'
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
    const { plan, source, ...options } = (await request.json()) as {
      plan?: Plan
      source: string
    } & RunOptions
    const runtime = await openRuntime({ engine, capabilities: [lookup] })
    if (plan !== undefined) {
      const run = await runtime.propose(plan, { by: 'ann', input: options.input })
      await run.approve({ by: 'ann', digest: (await run.view()).request })
      await run.start({ by: 'ann' })
      return Response.json(await run.outcome())
    }
    const outcome = await runtime.run(source, { ...options, seed: 1, stateDigest: true })
    return Response.json(outcome)
  },
}
