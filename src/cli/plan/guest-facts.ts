/** What people are told of the WebAssembly of a node: what it is, all of its digest, its size, and what it imports. */
import { clipText } from '../../base/escape-text.ts'
import { showCount } from '../../base/show-count.ts'
import { isRegistered } from '../../graph/plan/node-kinds.ts'
import type { PlanNode } from '../../graph/plan/plan.ts'
import type { Fact } from '../../graph/render/plan-outline.ts'
import type { PlanGuest } from '../../runtime/plans/plan-guests.ts'

const MOST_SHOWN = 60
const LONGEST_NAME = 100

/** @returns facts of a node; what none of `guests` is has its digest alone */
export function guestFacts(guests: readonly PlanGuest[]): (node: PlanNode) => readonly Fact[] {
  const known = new Map<string, PlanGuest>(guests.map((guest) => [guest.digest, guest]))
  return (node) => {
    if (!isRegistered(node) || node.wasm === undefined) return []
    const guest = known.get(node.wasm)
    if (guest === undefined) return [['wasm', node.wasm]]
    const { form, bytes, digest, problem } = guest
    const what = form === undefined ? '' : `${form === 'module' ? 'core module' : form}, `
    return [
      ['wasm', `${what}${showCount(bytes)} bytes, ${digest}`],
      ...(problem === undefined ? importFacts(guest) : [['problem', problem] as const]),
    ]
  }
}

/** A line for each interface. */
function importFacts({ imports, importCount }: PlanGuest): readonly Fact[] {
  if (importCount === 0) return [['imports', 'nothing']]
  const byInterface = new Map<string, string[]>()
  for (const { interface: from, name } of imports.slice(0, MOST_SHOWN)) {
    const names = byInterface.get(from) ?? []
    names.push(clipText(name, LONGEST_NAME))
    byInterface.set(from, names)
  }
  const facts = [...byInterface].map(
    ([from, names]): Fact => [
      'imports',
      `${from === '$root' ? '' : `${clipText(from, LONGEST_NAME)}: `}${names.join(', ')}`,
    ],
  )
  const more = importCount - MOST_SHOWN
  return more > 0 ? [...facts, ['imports', `and ${showCount(more)} more`]] : facts
}
