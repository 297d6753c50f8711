/** The name of all that guests of a component can observe of how it was made: what a capture of it can be restored on. */
import { sha256 } from '../base/digest.ts'
import type { SuspendingImport } from './core/core-manifest.ts'

/** Raised when the same component is charged otherwise, or its state has another form. */
const RULES = 1

/**
 * The same for the bytes of a component and for what was built of them before, if they wait in the same imports.
 * @param component its digest
 * @param at where it was made to wait
 * @param tool what made it wait
 */
export function componentEngine(
  component: string,
  at: readonly SuspendingImport[],
  tool: string | null | undefined,
): string {
  const places = [...new Set(at.map(({ module, name }) => JSON.stringify([module, name])))].sort()
  const waits = places.length === 0 ? '' : `${tool}\n${places.join('\n')}`
  const name = new TextEncoder().encode(`${RULES}\n${component}\n${waits}`)
  return `component:${sha256(name).slice('sha256:'.length)}`
}
