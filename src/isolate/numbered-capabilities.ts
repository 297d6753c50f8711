/** The capabilities of a guest that goes on, by the numbers that its functions have. */
import { CaissonError } from '../base/errors.ts'
import { LOAD_MODULE } from '../machine/module-graph.ts'
import type { GuestCapability } from '../machine/turn.ts'
import { modulesWanted } from '../program/import-problem.ts'
import { parseIsolateState } from './isolate-state.ts'

/** A capability with its place in the host's list, which may differ from the guest's after a restore. */
export interface NumberedCapability extends GuestCapability {
  readonly index: number
}

/**
 * The host's capabilities in the order of the guest's functions.
 * @throws CaissonError `checkpoint_refused` unless they are the same ones
 */
export function sameCapabilities(
  captured: readonly GuestCapability[],
  granted: readonly GuestCapability[],
): readonly NumberedCapability[] {
  // They are, and in the same order, whenever a guest is woken.
  if (captured.length === granted.length && captured.every((one, i) => isSame(one, granted[i]))) {
    return captured.map(({ name, sync }, index) => ({ name, sync, index }))
  }
  const index = new Map(granted.map(({ name, sync }, i) => [`${sync ? 'sync ' : ''}${name}`, i]))
  const numbered = captured.map((capability) => ({
    ...capability,
    index: index.get(`${capability.sync ? 'sync ' : ''}${capability.name}`) ?? -1,
  }))
  const missing = numbered.filter(({ index }) => index < 0).map(({ name }) => name)
  const names = new Set(captured.map(({ name }) => name))
  const added = granted.filter((one) => !names.has(one.name) && !goesWithout(one)).map(({ name }) => name)
  if (missing.length > 0 || added.length > 0) {
    throw new CaissonError(
      'checkpoint_refused',
      `The guest was captured with other grants.${missing.length > 0 ? ` Missing now: ${missing.join(', ')}.` : ''}${added.length > 0 ? ` Not there then: ${added.join(', ')}.` : ''}${modulesWanted(missing)}`,
      { details: { missing, added } },
    )
  }
  return numbered
}

/**
 * Asks of the state of a guest, before it is woken, whether it could be.
 * @throws CaissonError `checkpoint_refused` as `sameCapabilities`, `corrupted` for what is no state
 */
export function checkCapabilities(state: unknown, granted: readonly GuestCapability[]): void {
  sameCapabilities(parseIsolateState(state).capabilities, granted)
}

/** What a guest that has no function for it does not need. */
function goesWithout({ name, continues }: GuestCapability): boolean {
  return name === LOAD_MODULE || continues !== undefined
}

function isSame(one: GuestCapability, other: GuestCapability | undefined): boolean {
  return one.name === other?.name && one.sync === other.sync
}
