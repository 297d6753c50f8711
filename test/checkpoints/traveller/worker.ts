/** A stop in an edge worker: the leg is the body of a request, where it led that of the response. */
import { openRuntime } from '../../../src/entry/edge.ts'
// @ts-expect-error workerd turns this import into a WebAssembly.Module; TypeScript does not know.
import engine from './engine.wasm'
import { JOURNEY, type Leg, travel } from './journey.ts'

export default {
  async fetch(request: Request): Promise<Response> {
    const runtime = await openRuntime({ ...JOURNEY, engine })
    const stopover = await travel(runtime, (await request.json()) as Leg)
    await runtime.close()
    return Response.json(stopover)
  },
}
