/** A stop in a page. Whoever drives the browser calls `travelHere`. */
import { openRuntime } from '../../../src/entry/browser.ts'
import { JOURNEY, type Leg, type Stopover, travel } from './journey.ts'

declare global {
  var travelHere: (leg: Leg) => Promise<Stopover>
}

globalThis.travelHere = async (leg) => {
  const runtime = await openRuntime(JOURNEY)
  try {
    return await travel(runtime, leg)
  } finally {
    await runtime.close()
  }
}
