/** Opens the gates of guests: what the runtime was given for all of them, and what each one asks for. */
import { Ledger } from '../capability/budget.ts'
import type { CapabilityTable } from '../capability/capability-table.ts'
import { createGate, type Gate, type GateOptions } from '../capability/gate.ts'
import { grantSet } from '../capability/grant-set.ts'
import type { Clock } from '../ports/clock.ts'
import type { Telemetry, TelemetrySpan } from '../ports/telemetry.ts'
import { failureReport } from './failure-report.ts'
import { type WithModules, withLoading } from './module-desk.ts'
import type { RunOptions, RuntimeOptions } from './options.ts'
import type { CallSpans } from './traced-gate.ts'

/** What a guest asks of its gate. */
export type GateWanted = Pick<RunOptions, 'grants' | 'guard' | 'label'> & WithModules

/** What takes the place of what gates have in common. */
export interface GateOwn extends Partial<GateOptions> {
  /** What each call is told to be a part of. */
  readonly spanOf?: ((call: number) => TelemetrySpan | undefined) | undefined
}

export class GateMaker {
  /** Tells the host what no guest may see. */
  readonly report: GateOptions['report']
  readonly #table: CapabilityTable
  readonly #guard: NonNullable<RuntimeOptions['guard']>
  readonly #telemetry: Telemetry | undefined
  readonly #spans: typeof CallSpans | undefined
  /** What the gates of all guests have in common. */
  readonly #common: Omit<GateOptions, 'grants' | 'ledger' | 'guestId'>

  /**
   * @param clock of guests
   * @param spans what tells of calls; left out, nobody is told
   */
  constructor(clock: Clock, options: RuntimeOptions, table: CapabilityTable, spans?: typeof CallSpans) {
    const { callLog, approver, approveEffects, lease, guard = {} } = options
    this.report = failureReport(options)
    this.#telemetry = options.telemetry
    this.#spans = spans
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
  open(wanted: GateWanted, guestId: string, own: GateOwn = {}): Gate {
    const { grants: given = [], guard = this.#guard, programModules, label } = wanted
    const { table, grants } = withLoading(this.#table, given, programModules)
    const { spanOf, ...ofGate } = own
    const options: GateOptions = {
      ...this.#common,
      grants: grantSet(table, grants),
      ledger: new Ledger(),
      ...(guard !== false && { guard }),
      guestId,
      ...ofGate,
    }
    const telemetry = this.#telemetry
    const Spans = this.#spans
    if (telemetry?.span === undefined || Spans === undefined) return createGate(options)
    const spans = new Spans({
      telemetry,
      guestId,
      effects: new Map(options.grants.held.map(({ capability: { name, effect } }) => [name, effect])),
      content: telemetry.content === true && label !== 'secret',
      spanOf,
    })
    return spans.around(createGate({ ...options, retrying: spans.retrying }))
  }
}
