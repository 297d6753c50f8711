/** A module between two turns, beside its memory: plain data, checked where it comes back from outside. */
import { CaissonError } from '../../base/errors.ts'
import type { GuestCapability } from '../../capability/call.ts'
import type { WasiState } from '../../ports/wasi-host.ts'
import type { CoreState } from '../core/capture-core.ts'
import type { ModuleCallsState } from './module-calls.ts'
import { type ModuleProgram, parseModuleProgram } from './module-program.ts'

export interface ModuleState {
  readonly version: 1
  readonly program: ModuleProgram
  readonly seed: Uint8Array
  /** Which of its exports is being run. */
  readonly phase: number
  readonly core: CoreState
  readonly wasi: WasiState
  readonly calls: ModuleCallsState
  /** Names and kinds, as the guest was started with. */
  readonly capabilities: readonly GuestCapability[]
  /** The time of its clock until which it sleeps; null where it waits for a call. */
  readonly untilNs: bigint | null
  /** A memory was not allowed to grow, which is why it may end as it will; left out where none was. */
  readonly memoryRefused?: true
}

/** Checks what this machine itself goes by; the parts are checked by whoever restores them. @throws CaissonError `corrupted` */
export function parseModuleState(given: unknown): ModuleState {
  const state = given as Partial<ModuleState> | null | undefined
  if (typeof state !== 'object' || state === null || state.version !== 1) throw refuse()
  const { seed, phase, untilNs, capabilities, wasi, core, memoryRefused } = state
  const isWhole =
    seed instanceof Uint8Array &&
    seed.length === 32 &&
    Number.isSafeInteger(phase) &&
    (phase as number) >= 0 &&
    (untilNs === null || (typeof untilNs === 'bigint' && untilNs >= 0n)) &&
    (memoryRefused === undefined || memoryRefused === true) &&
    typeof wasi === 'object' &&
    wasi !== null &&
    typeof core === 'object' &&
    core !== null &&
    Array.isArray(capabilities) &&
    capabilities.every(isCapability)
  if (!isWhole) throw refuse()
  return { ...(state as ModuleState), program: parseModuleProgram(state.program) }
}

/**
 * A guest is taken up with the capabilities that it had.
 * @throws CaissonError `checkpoint_refused`
 */
export function checkCapabilities(was: readonly GuestCapability[], is: readonly GuestCapability[]): void {
  const lacks = (those: readonly GuestCapability[], one: GuestCapability): boolean =>
    !those.some(({ name, sync }) => name === one.name && sync === one.sync)
  const missing = was.filter((one) => lacks(is, one)).map(({ name }) => name)
  const added = is.filter((one) => lacks(was, one)).map(({ name }) => name)
  if (missing.length + added.length === 0) return
  throw new CaissonError(
    'checkpoint_refused',
    `The guest was captured with other capabilities.${missing.length > 0 ? ` Missing now: ${missing.join(', ')}.` : ''}${added.length > 0 ? ` Not there then: ${added.join(', ')}.` : ''}`,
    { details: { missing, added } },
  )
}

function isCapability(given: unknown): boolean {
  const capability = given as Partial<GuestCapability> | null
  return (
    typeof capability === 'object' &&
    capability !== null &&
    typeof capability.name === 'string' &&
    typeof capability.sync === 'boolean'
  )
}

function refuse(): CaissonError {
  return new CaissonError('corrupted', 'The state of a captured module contradicts itself.')
}
