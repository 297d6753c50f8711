/**
 * The WebAssembly that a plan names: given with a proposal, kept in the store beside the plan, by its digest.
 *
 * Invariants
 * 1. No run is proposed before all that its plan names is in the store, and is what the digests say.
 * 2. What is read is compared with its digest each time: a store may be a disk that others write to.
 */
import { type Digest, digestOf } from '../../base/digest.ts'
import { CaissonError } from '../../base/errors.ts'
import { isRegistered } from '../../graph/plan/node-kinds.ts'
import type { Plan } from '../../graph/plan/plan.ts'
import { visitNodes } from '../../graph/plan/plan-code.ts'
import { invalidPlan, shownPointer } from '../../graph/plan/plan-problem.ts'
import type { WatchedStore } from '../watched-store.ts'
import type { PlanRunParts } from './plan-run-parts.ts'

/** Of one guest, in bytes. */
const MOST_BYTES: number = 128 * 1024 * 1024

/** What a plan names, each once. */
export function wasmOf(plan: Plan): readonly Digest[] {
  const digests = new Set<Digest>()
  visitNodes(plan, '', (node, at) => {
    if (!isRegistered(node)) return
    if (node.wasm !== undefined) digests.add(node.wasm as Digest)
    else {
      const problem = 'names a file: what is proposed has the digest of it (embedSources)'
      throw new CaissonError(
        'invalid_plan',
        `The plan cannot be proposed. ${shownPointer(at)}: ${problem}.`,
        {
          details: { problems: [{ at, problem }], count: 1 },
        },
      )
    }
  })
  return [...digests]
}

/** Where it is kept, and what digests it: as fast as the platform can, for they are tens of megabytes. */
type WasmParts = Pick<PlanRunParts, 'sealing'> & {
  readonly store: Pick<WatchedStore, 'putBlob' | 'getBlob'>
}

/** WebAssembly by its digest: copies that nobody else has. */
export type GivenWasm = ReadonlyMap<Digest, Uint8Array>

/** @throws CaissonError `invalid_argument` for what no node names, `value_too_large`, `invalid_plan` */
export function givenWasm(
  plan: Plan,
  given: readonly Uint8Array[],
  { sealing }: Pick<WasmParts, 'sealing'>,
): GivenWasm {
  const named = wasmOf(plan)
  const there = new Map<Digest, Uint8Array>()
  for (const one of given) {
    if (one.length > MOST_BYTES)
      throw new CaissonError('value_too_large', `WebAssembly of a plan is at most ${MOST_BYTES} bytes.`)
    const bytes = new Uint8Array(one)
    const digest = digestOf(sealing.ports.hash.sha256(bytes))
    if (!named.includes(digest))
      throw new CaissonError('invalid_argument', `No node of the plan names the wasm ${digest}.`, {
        details: { option: 'wasm', digest },
      })
    there.set(digest, bytes)
  }
  return there
}

/**
 * Puts what is given into the store, and looks that the rest is there.
 * @returns all that the plan names
 * @throws CaissonError `not_found` with `details: { digest }`, `corrupted`
 */
export async function keepWasm(parts: WasmParts, plan: Plan, given: GivenWasm): Promise<readonly Digest[]> {
  const named = wasmOf(plan)
  for (const digest of named) {
    const bytes = given.get(digest) ?? (await loadWasm(parts, digest))
    // Also what is there already: so it is young, and not collected before the run names it.
    await parts.store.putBlob(digest, bytes)
  }
  return named
}

/**
 * Refuses a plan whose WebAssembly is not what its nodes take it for.
 * @throws CaissonError `invalid_plan` with all that is wrong; `not_found` with `details: { digest }`, `corrupted`
 */
export async function checkWasm(
  plan: Plan,
  given: GivenWasm,
  parts: WasmParts & Pick<PlanRunParts, 'wasmCheck'>,
): Promise<void> {
  if (wasmOf(plan).length === 0) return
  // Who runs no WebAssembly does not download what reads it.
  const { wasmProblems } = await import('./wasm-check.ts')
  const problems = await wasmProblems(plan, {
    ...(await parts.wasmCheck()),
    bytesOf: async (digest) => given.get(digest) ?? loadWasm(parts, digest),
  })
  if (problems.length > 0) throw invalidPlan(problems)
}

/** @throws CaissonError `not_found` with `details: { digest }`, `corrupted`, `store_failed` */
export async function loadWasm({ store, sealing }: WasmParts, digest: Digest): Promise<Uint8Array> {
  const bytes = await store.getBlob(digest)
  if (bytes === undefined)
    throw new CaissonError(
      'not_found',
      `The wasm ${digest} is not in the store: give it with the proposal.`,
      {
        details: { digest },
      },
    )
  if (digestOf(sealing.ports.hash.sha256(bytes)) !== digest)
    throw new CaissonError('corrupted', `The wasm ${digest} was changed in the store.`)
  return bytes
}
