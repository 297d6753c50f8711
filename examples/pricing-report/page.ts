/**
 * A page that does again what a process on a server did, from a checkpoint on: with the recorded answers, at their
 * times and in their order. It has no database, no price service and no disk, and asks for none.
 */
import { openIndexedDbRunStore } from '../../host-bindings/store/indexed-db-run-store.ts'
import {
  type Capability,
  capability,
  engineFromUrl,
  type Outcome,
  openRuntime,
} from '../../src/entry/browser.ts'
import { type PackedRun, unpackRun } from './packed-run.ts'
import { GRANTS } from './terms.ts'

declare global {
  /** How the run ended in this page. */
  var repeated: Promise<Outcome>
}

const notHere = (name: string, continues?: string): Capability =>
  capability({
    name,
    description: 'Is not here',
    effect: 'read',
    ...(continues !== undefined && { continues }),
    invoke: () => {
      throw new Error('this page reaches nothing')
    },
  })
/** With what reads the bodies of `net.fetch`, which is granted with it. */
const elsewhere = [
  ...GRANTS.map(({ capability: name }) => notHere(name)),
  notHere('net.readBody', 'net.fetch'),
]

async function repeatHere(): Promise<Outcome> {
  const packed = (await (await fetch('/run.json')).json()) as PackedRun
  const store = await openIndexedDbRunStore()
  const runtime = await openRuntime({
    capabilities: elsewhere,
    store,
    engines: engineFromUrl(new URL('/engine.wasm', location.href)),
  })
  try {
    await unpackRun(store, packed)
    return await runtime.repeat(packed.run, { grants: GRANTS, stateDigest: true })
  } finally {
    await runtime.close()
    await store.close()
  }
}

globalThis.repeated = repeatHere()
