/** How a component is made to wait for capabilities that are answered later. */
import { CapabilityPlaces } from './capability-places.ts'
import { FETCH } from './http-calls.ts'
import type { WaitOptions } from './prepare-component.ts'

/**
 * @param capabilities their names
 * @param tool what makes core modules suspendable
 * @throws CaissonError `invalid_argument` where two have one place in WIT
 */
export function waitOptions(
  capabilities: readonly string[],
  tool: string,
  prepare: WaitOptions['prepare'],
): WaitOptions {
  const names = [...capabilities].sort()
  const places = new CapabilityPlaces(names.map((name) => ({ name, sync: false })))
  return {
    key: `${tool}\n${names.join('\n')}`,
    tool,
    isAwaited: (wanted) => places.isAwaited(wanted),
    awaitsHttp: names.includes(FETCH),
    prepare,
  }
}
