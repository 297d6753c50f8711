/** Where the machines of guests come from, whatever their engine is. */
import type { Limits } from '../machine/limits.ts'
import type { Machine, SyncCalls } from '../machine/turn.ts'
import type { MachineKind } from './machine-maker.ts'

/** Gives the machines of guests of one engine. */
export interface MachineSource {
  readonly engine: { readonly id: string }
  open(kind: MachineKind, limits: Limits, syncCalls: SyncCalls): Machine | Promise<Machine>
}
