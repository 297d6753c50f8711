/** A plan whose node is a component, or a module, that calls something four times: run in processes that are killed. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sha256 } from '../../src/base/digest.ts'
import type { Capability, Plan, PlanRun, Runtime } from '../../src/entry/node.ts'

export type WasmKind = 'component' | 'module'

/** The guests: of the last two none can be suspended, so that they are executed again where they wait. */
export const GUESTS = {
  'a component': 'tool-as.wasm',
  'a module': 'asking-c.wasm',
  'a component of modules that call each other': 'woven.wasm',
  'a large module': 'large.wasm',
} as const

export type GuestName = keyof typeof GUESTS

export const kindOf = (guest: GuestName): WasmKind =>
  guest.startsWith('a component') ? 'component' : 'module'

/** @param said before a call is answered, with what it asked */
export function sayingWorld(said: (line: string) => Promise<void>): readonly Capability[] {
  const one = (name: string, answer: (input: never) => unknown): Capability => ({
    name,
    description: 'Answers what it is asked.',
    effect: 'read',
    // Asked again where nobody knows whether it was.
    idempotent: true,
    invoke: async (input) => {
      await said(JSON.stringify(input))
      return answer(input as never)
    },
  })
  return [
    one('hostCall', ({ arguments: text }: { arguments: string }) => `said ${text}`),
    one('prices.lookup', ({ sku }: { sku: string }) => Number(sku.slice(1)) + 10),
  ]
}

/** @param folder where the guests are */
export async function beginWasmPlan(runtime: Runtime, guest: GuestName, folder: string): Promise<PlanRun> {
  const kind = kindOf(guest)
  const bytes = new Uint8Array(readFileSync(join(folder, GUESTS[guest])))
  const wasm = sha256(bytes)
  const plan: Plan = {
    format: 'plan/1',
    name: 'killed-wasm',
    version: '1',
    grants: ['hostCall', 'prices.lookup'],
    nodes: {
      one:
        kind === 'component'
          ? { kind, wasm, export: 'run', args: ['a\nb\nc\nd'], grants: ['hostCall'] }
          : { kind, wasm, args: ['4'], grants: ['prices.lookup'] },
    },
    output: { $from: 'one' },
  }
  const run = await runtime.propose(plan, { by: 'test', run: 'killed', wasm: [bytes] })
  await run.approve({ by: 'test', digest: (await run.view()).request })
  await run.start({ by: 'test' })
  return run
}
