/**
 * The WebAssembly of a plan for whoever approves it: what it is, how large, and what it can ask for. Read from the bytes
 * that the digest names, and nothing of it is run.
 */
import type { Digest } from '../../base/digest.ts'
import { CaissonError } from '../../base/errors.ts'
import { type InspectedGuest, inspectGuest } from '../../component/inspect-guest.ts'
import { isRegistered } from '../../graph/plan/node-kinds.ts'
import type { Plan } from '../../graph/plan/plan.ts'
import { visitNodes } from '../../graph/plan/plan-code.ts'

/** A guest that nodes of a plan name. */
export interface PlanGuest {
  readonly digest: Digest
  /** Paths of the nodes that name it, as in `NodeView`, without numbers of items and rounds. */
  readonly nodes: readonly string[]
  /** Left out where its bytes cannot be read: `problem` says why. */
  readonly form?: 'module' | 'component'
  readonly bytes: number
  /** What it imports: of a module by namespace, of a component by interface. The first thousand. */
  readonly imports: readonly { readonly interface: string; readonly name: string }[]
  /** How many there are. */
  readonly importCount: number
  readonly problem?: string
}

/** Of which as much is shown. */
const MOST_IMPORTS = 1_000

/**
 * @param plan checked
 * @param bytesOf what `digest` names. @throws CaissonError where nobody has it, or it was changed
 */
export async function planGuests(
  plan: Plan,
  bytesOf: (digest: Digest) => Promise<Uint8Array>,
  monotonic: () => number,
): Promise<readonly PlanGuest[]> {
  const nodes = new Map<Digest, string[]>()
  visitNodes(plan, '', (node, at) => {
    if (!isRegistered(node) || node.wasm === undefined) return
    const paths = nodes.get(node.wasm as Digest)
    if (paths === undefined) nodes.set(node.wasm as Digest, [pathOf(at)])
    else paths.push(pathOf(at))
  })
  const guests: PlanGuest[] = []
  for (const [digest, paths] of nodes)
    guests.push({ digest, nodes: paths, ...(await factsOf(digest, bytesOf, monotonic)) })
  return guests
}

async function factsOf(
  digest: Digest,
  bytesOf: (digest: Digest) => Promise<Uint8Array>,
  monotonic: () => number,
): Promise<Omit<PlanGuest, 'digest' | 'nodes'>> {
  let bytes = 0
  try {
    const wasm = await bytesOf(digest)
    bytes = wasm.length
    const guest = await inspectGuest(wasm, monotonic)
    const imports = importsOf(guest)
    return { form: guest.form, bytes, imports: imports.slice(0, MOST_IMPORTS), importCount: imports.length }
  } catch (error) {
    if (!CaissonError.is(error) || error.code === 'store_failed') throw error
    return { bytes, imports: [], importCount: 0, problem: error.message }
  }
}

function importsOf(guest: InspectedGuest): PlanGuest['imports'] {
  return guest.form === 'module'
    ? guest.core.imports.map(({ module, name }) => ({ interface: module, name }))
    : guest.shape.imports.map(({ interface: from, name }) => ({ interface: from, name }))
}

/** `/nodes/enrich/do/nodes/lookup` as `enrich/lookup`. */
function pathOf(at: string): string {
  return at
    .split('/')
    .slice(1)
    .filter((_, i) => i % 3 === 1)
    .join('/')
}
