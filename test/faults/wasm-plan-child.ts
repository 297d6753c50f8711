/**
 * A process that runs a plan whose node is WebAssembly until it is killed: `node CHILD.mjs STORE EFFECTS GUEST STUCK GUESTS`. It leaves
 * a line in the file EFFECTS for each call, and never answers call number STUCK (0: it answers all).
 */
import { appendFileSync } from 'node:fs'
import { openDirectoryRunStore } from '../../host-bindings/store/node/directory-run-store.node.ts'
import { openRuntime } from '../../src/entry/node.ts'
import { beginWasmPlan, type GuestName, sayingWorld } from './wasm-plan.ts'

const [, , folder = '', effects = '', guest = 'a component', stuck = '0', guests = ''] = process.argv
let calls = 0
const runtime = await openRuntime({
  capabilities: sayingWorld(async (line) => {
    calls += 1
    appendFileSync(effects, `${line}\n`)
    if (calls === Number(stuck)) await new Promise((resolve) => setTimeout(resolve, 3_600_000))
  }),
  store: await openDirectoryRunStore(folder),
  receipts: { states: true },
  checkpoints: { every: { calls: 1 } },
})
await (await beginWasmPlan(runtime, guest as GuestName, guests)).outcome()
await runtime.close()
