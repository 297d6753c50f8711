/** How our bindings declare their capabilities: typed where they are written, erased where they are handed on. */
import type { AsyncCapability, Capability, SyncCapability } from '../src/capability/capability.ts'

/** Checks an awaited capability against its own schemas and hands it on as one of many. */
export function defineBinding<Input, Output>(definition: AsyncCapability<Input, Output>): Capability {
  // Sound at run time: the gate calls `invoke` only with what `input` accepted.
  return definition
}

/** The same for a capability that answers inside the guest's turn. */
export function defineSyncBinding<Input, Output>(definition: SyncCapability<Input, Output>): Capability {
  return definition
}
