/** Opens the gates of guests: what the runtime was given for all of them, and what each one asks for. */
import { Ledger } from '../capability/budget.ts'
import type { CapabilityTable } from '../capability/capability-table.ts'
import { createGate, type Gate, type GateOptions } from '../capability/gate.ts'
import { grantSet } from '../capability/grant-set.ts'
import type { Clock } from '../ports/clock.ts'
import { failureReport } from './failure-report.ts'
import { type WithModules, withLoading } from './module-desk.ts'
import type { RunOptions, RuntimeOptions } from './options.ts'

/** What a guest asks of its gate. */
export type GateWanted = Pick<RunOptions, 'grants' | 'guard'> & WithModules

export class GateMaker {
  /** Tells the host what no guest may see. */
  readonly report: GateOptions['report']
  readonly #table: CapabilityTable
  readonly #guard: NonNullable<RuntimeOptions['guard']>
  /** What the gates of all guests have in common. */
  readonly #common: Omit<GateOptions, 'grants' | 'ledger' | 'guestId'>

  /** @param clock of guests */
  constructor(clock: Clock, options: RuntimeOptions, table: CapabilityTable) {
    const { callLog, approver, approveEffects, lease, guard = {} } = options
    this.report = failureReport(options)
    this.#table = table
    this.#guard = guard
    this.#common = {
      clock,
      ...(callLog && { callLog }),
      ...(approver && { approver }),
      ...(approveEffects && { approveEffects }),
      ...(lease && { lease }),
      ...(this.report && { report: this.report }),
    }
  }

  /** @param own takes the place of what is common */
  open(wanted: GateWanted, guestId: string, own: Partial<GateOptions> = {}): Gate {
    const { grants: given = [], guard = this.#guard, programModules } = wanted
    const { table, grants } = withLoading(this.#table, given, programModules)
    return createGate({
      ...this.#common,
      grants: grantSet(table, grants),
      ledger: new Ledger(),
      ...(guard !== false && { guard }),
      guestId,
      ...own,
    })
  }
}
