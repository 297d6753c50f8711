/** A page as an embedder would write it. The test drives it through `window.runGuest`. */
import { capability, type Outcome, openRuntime, type Plan, type PlanOutcome, type RunOptions } from 'caisson'
import { createWebFetchCapabilities } from 'caisson/bindings'

const lookup = capability({
  name: 'prices.lookup',
  description: 'Current price of one product',
  effect: 'read',
  invoke: async (args) => ({ price: String((args as { sku: string }).sku).length * 1.5 }),
})

declare global {
  interface Window {
    runGuest(source: string, options?: RunOptions): Promise<Outcome>
    /** Proposes a plan, approves it and runs it. */
    runPlan(plan: Plan, input: unknown): Promise<PlanOutcome>
    /** Timer ticks that the page saw while the guest ran. */
    runAndTick(source: string, options?: RunOptions): Promise<{ outcome: Outcome; ticks: number }>
  }
}

const net = createWebFetchCapabilities({ allow: [location.host], allowPrivate: [location.host] })
const opening = openRuntime({ capabilities: [lookup, ...net] })

window.runGuest = async (source, options) => (await opening).run(source, options)
window.runPlan = async (plan, input) => {
  const run = await (await opening).propose(plan, { by: 'ann', input })
  await run.approve({ by: 'ann', digest: (await run.view()).request })
  await run.start({ by: 'ann' })
  return run.outcome()
}
window.runAndTick = async (source, options) => {
  let ticks = 0
  const timer = setInterval(() => {
    ticks += 1
  }, 4)
  const outcome = await window.runGuest(source, options)
  clearInterval(timer)
  return { outcome, ticks }
}
