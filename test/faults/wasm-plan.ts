/** A plan whose node is a component, or a module, that calls something four times: run in processes that are killed. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sha256 } from '../../src/base/digest.ts'
import type { Capability, Plan, PlanRun, Runtime } from '../../src/entry/node.ts'

export type WasmKind = 'component' | 'module'

const built = (name: string): Uint8Array =>
  new Uint8Array(readFileSync(join(process.cwd(), 'guest/samples/built', `${name}.wasm`)))

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

export async function beginWasmPlan(runtime: Runtime, kind: WasmKind): Promise<PlanRun> {
  const bytes = built(kind === 'component' ? 'tool-as' : 'asking-c')
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
