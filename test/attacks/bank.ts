/** A bank that writes down what is paid, for attacks on runs: whatever they do, it must not pay anything twice. */
import { onTestFinished } from 'vitest'
import {
  CaissonError,
  type Capability,
  type CheckpointKeys,
  capability,
  openRuntime,
  type RunStore,
  type Runtime,
  type RuntimeOptions,
} from '../../src/entry/node.ts'

/** Authenticates what is kept: an attacker who writes to the store has no such key. */
export const KEYS: CheckpointKeys = { mac: { current: { id: 'm', bytes: new Uint8Array(32).fill(7) } } }

export interface Bank {
  /** What was paid, in order. */
  readonly paid: unknown[]
  /** `bank.pay` may be done once, `bank.look` as often as one likes. */
  readonly capabilities: readonly Capability[]
  readonly grants: readonly string[]
  /** Over a store, with a checkpoint after every answer; closed when the test is over. */
  open(store: RunStore, options?: RuntimeOptions): Promise<Runtime>
}

/** @param more capabilities beside the two */
export function openBank(...more: readonly Capability[]): Bank {
  const paid: unknown[] = []
  const pay = capability({
    name: 'bank.pay',
    description: 'Pays',
    effect: 'write',
    invoke: (n: unknown) => paid.push(n),
  })
  const look = capability({
    name: 'bank.look',
    description: 'Looks',
    effect: 'read',
    invoke: (n: unknown) => n,
  })
  const capabilities = [pay, look, ...more]
  return {
    paid,
    capabilities,
    grants: capabilities.map(({ name }) => name),
    async open(store, options = {}) {
      const runtime = await openRuntime({
        capabilities,
        store,
        ...options,
        checkpoints: { every: { calls: 1 }, ...options.checkpoints },
      })
      onTestFinished(() => runtime.close())
      return runtime
    },
  }
}

/** How something ended: the code of what was thrown or of the failure, else its status. What has no code is thrown. */
export async function endOf(ending: Promise<unknown>): Promise<string> {
  try {
    const outcome = (await ending) as { status?: string; error?: { code?: string } } | undefined
    return outcome?.error?.code ?? outcome?.status ?? 'done'
  } catch (error) {
    if (CaissonError.is(error)) return error.code
    throw error
  }
}
