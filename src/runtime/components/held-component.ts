/**
 * A component as its embedder holds it: calls of its exports as runs with turns where it was granted capabilities, and its
 * state as a checkpoint.
 *
 * Invariants
 * 1. One call at a time, from its begin to its end: also while it waits, and while it is parked.
 * 2. A call that was given up in the middle leaves an instance that takes no other.
 * 3. All calls go through one gate: what a grant allows, it allows the component, and not each of its calls.
 */

import { DISPOSE } from '../../base/disposal.ts'
import { CaissonError } from '../../base/errors.ts'
import { anAbortSignal, checkOptions, type OptionChecks } from '../../base/option-checks.ts'
import type { Answer } from '../../capability/call.ts'
import type { Delivery } from '../../capability/delivery.ts'
import type { Gate } from '../../capability/gate.ts'
import { StopSource } from '../../capability/stop.ts'
import { CallMachine } from '../../component/call-machine.ts'
import type { CapabilityCalls } from '../../component/capability-calls.ts'
import { type ComponentCapture, captureComponent, captureDigest } from '../../component/component-capture.ts'
import type { ComponentInstance } from '../../component/component-instance.ts'
import type { ComponentOutcome } from '../../component/component-outcome.ts'
import type { ModuleClock } from '../../component/module/module-clock.ts'
import type { CallOptions, GoOnOptions, OpenComponent } from '../../component/open-component.ts'
import { type DriveOptions, driveSession, type KnownCalls } from '../../machine/driver.ts'
import type { RunEnd } from '../../machine/outcome.ts'
import { Session } from '../../machine/session.ts'
import type { SessionState } from '../../machine/session-state.ts'
import type { MachineStart } from '../../machine/turn.ts'
import type { CallLog } from '../../ports/call-log.ts'
import type { Clock } from '../../ports/clock.ts'
import type { PageTools } from '../../ports/page-tools.ts'
import type { WasiHost, WasiOutput } from '../../ports/wasi-host.ts'
import { PageTree } from '../../snapshot/page-tree.ts'
import { measureValue } from '../../values/copy-value.ts'
import { isListOfAnswers, isListOfCalls } from '../check-options.ts'
import type { CheckpointOwner, Checkpoints } from '../checkpoints.ts'
import { decidedCalls } from '../known-calls.ts'
import { callOutcome } from './call-outcome.ts'

export interface HeldComponentParts {
  readonly instance: ComponentInstance
  readonly calls: CapabilityCalls
  readonly wasi: WasiHost | undefined
  readonly clock: ModuleClock
  readonly gate: Gate
  readonly start: MachineStart
  readonly guestId: string
  readonly engine: string
  readonly checkpoints: Checkpoints
  readonly owner: CheckpointOwner
  readonly hostClock: Clock
  /** What guests' time comes from. */
  readonly guestClock: Clock
  readonly callLog: CallLog | undefined
  /** Time stands still at this. */
  readonly nowMs: number | undefined
  readonly pageTools: PageTools
}

/** Where a checkpoint left off. */
export interface Earlier {
  readonly session: SessionState
  readonly sequence: number
  /** The export whose call waits. */
  readonly call: string | null
}

/** Of a call that is under way. */
interface Run {
  readonly machine: CallMachine
  session: Session | undefined
  /** The books, while nobody drives it. */
  parked: SessionState | undefined
  /** What became of its calls where it was parked; undefined for one that comes from a checkpoint. */
  known?: KnownCalls
}

const GO_ON: OptionChecks<GoOnOptions> = {
  signal: anAbortSignal,
  answers: [isListOfAnswers, 'a list of answers: { id, value } or { id, error }'],
  confirm: [isListOfCalls, 'a list of ids of calls'],
}

const NO_OUTPUT: WasiOutput = { bytes: new Uint8Array(0), droppedBytes: 0 }

export class HeldComponent implements OpenComponent {
  readonly #parts: HeldComponentParts
  #run: Run | undefined
  #sequence: number
  #lastOutput: Pick<HeldComponent, 'stdout' | 'stderr'> | undefined

  constructor(parts: HeldComponentParts, earlier?: Earlier) {
    this.#parts = parts
    this.#sequence = earlier?.sequence ?? 0
    if (earlier === undefined || earlier.call === null) return
    this.#run = {
      machine: this.#machine(earlier.call, [], true),
      session: undefined,
      parked: earlier.session,
    }
  }

  get exports(): OpenComponent['exports'] {
    return this.#parts.instance.exports
  }

  get state(): OpenComponent['state'] {
    return this.#run === undefined ? this.#parts.instance.state : 'busy'
  }

  get memoryBytes(): number {
    return this.#parts.instance.memoryBytes
  }

  get fault(): unknown {
    return this.#parts.instance.fault
  }

  get stdout(): WasiOutput {
    return this.#lastOutput?.stdout ?? this.#parts.wasi?.stdout ?? NO_OUTPUT
  }

  get stderr(): WasiOutput {
    return this.#lastOutput?.stderr ?? this.#parts.wasi?.stderr ?? NO_OUTPUT
  }

  get waits(): boolean {
    return this.#run?.parked !== undefined
  }

  async call(
    name: string,
    args: readonly unknown[] = [],
    options: CallOptions = {},
  ): Promise<ComponentOutcome> {
    const { instance, gate, clock, start } = this.#parts
    this.#checkFree()
    if (gate.capabilities.length === 0) {
      clock.advance(this.#nowMs)
      return instance.call(name, args, options)
    }
    const checked = instance.checkCall(name, args)
    const { signal } = options
    if (signal?.aborted === true) throw new CaissonError('aborted', 'The call was aborted before it began.')
    const run: Run = { machine: this.#machine(name, checked), session: undefined, parked: undefined }
    this.#run = run
    // A shallow stack below the guest, whatever stands above.
    await Promise.resolve()
    return this.#drive(run, { ...start, nowMs: this.#nowMs }, options)
  }

  async goOn(options: GoOnOptions = {}): Promise<ComponentOutcome> {
    checkOptions(options, GO_ON)
    const run = this.#run
    if (run?.parked === undefined)
      throw new CaissonError('invalid_argument', 'The component is parked in no call.')
    const { gate, start } = this.#parts
    const { machine, parked } = run
    // Nobody else goes on with it meanwhile.
    run.parked = undefined
    try {
      const stop = new StopSource()
      run.known = await decidedCalls(run.known ?? this.#known(machine), machine.pending, gate, stop, options)
    } finally {
      run.parked = parked
    }
    if (this.#run !== run) throw new CaissonError('isolate_destroyed', 'The component was disposed.')
    return this.#drive(run, start, options)
  }

  async #drive(
    run: Run,
    start: MachineStart,
    { signal, stopAtCall }: CallOptions,
  ): Promise<ComponentOutcome> {
    const { gate, guestClock, callLog, nowMs } = this.#parts
    const { machine, parked } = run
    const options: DriveOptions = {
      machine,
      start,
      gate,
      clock: guestClock,
      callLog,
      signal,
      stopAtCall: stopAtCall === undefined ? undefined : this.#parts.calls.count + stopAtCall,
      ...(nowMs !== undefined && { now: () => nowMs }),
      ...(parked && { restored: parked, known: run.known ?? this.#known(machine) }),
    }
    const session = new Session(options)
    run.session = session
    run.parked = undefined
    let end: RunEnd
    try {
      const first = parked === undefined ? await session.begin() : session.goOn()
      end = await driveSession(session, first, options)
    } catch (error) {
      this.#giveUp()
      throw error
    }
    const outcome = session.outcome(end)
    if (outcome.status === 'suspended') {
      run.parked = session.state()
      // None of the others was invoked: here that is known.
      run.known = {
        answers: outcome.answered.map(deliveryOf),
        recorded: new Map(),
        inDoubt: new Set(outcome.inDoubt),
      }
      run.session = undefined
      return callOutcome(outcome, machine)
    }
    if (machine.end === undefined || outcome.status !== 'completed')
      this.#giveUp(machine.end?.status === 'completed')
    else this.#run = undefined
    return callOutcome(outcome, machine)
  }

  /** @param isWhole the guest itself came to its end: it is as any other time */
  #giveUp(isWhole = false): void {
    this.#run?.machine.dispose()
    this.#run = undefined
    if (!isWhole) this.#parts.instance[DISPOSE]()
  }

  /** Where the host has no record, a call that may have taken effect is made again only if that does no harm. */
  #known({ pending }: CallMachine): KnownCalls {
    const { gate } = this.#parts
    const inDoubt = pending.filter(({ capability }) => !gate.isRepeatable(capability)).map(({ id }) => id)
    return { answers: [], recorded: new Map(), inDoubt: new Set(inDoubt) }
  }

  async checkpoint(): Promise<Uint8Array> {
    const { checkpoints, guestId, start, owner, hostClock } = this.#parts
    const { name, session } = this.#standing()
    const { memoryBytes, changes, state } = this.#capture(name)
    this.#sequence += 1
    const { bytes } = await checkpoints.write(
      {
        memoryBytes,
        pages: PageTree.empty.with(changes),
        state: { guestId, limits: start.limits, session, machine: state },
      },
      owner,
      this.#sequence,
      hostClock.now(),
    )
    return bytes
  }

  /** Which call waits, and the books that it is gone on with. */
  #standing(): { readonly name: string | null; readonly session: SessionState } {
    const run = this.#run
    if (run === undefined) return { name: null, session: this.#idle() }
    const { machine, session, parked } = run
    if (session?.inTurn === true || (parked ?? session) === undefined)
      throw new CaissonError('busy', 'The component is inside of a turn.')
    return { name: machine.export, session: parked ?? (session as Session).state() }
  }

  stateDigest(): string {
    return this.#digest(this.#standing().name)
  }

  #digest(name: string | null): string {
    const { engine, pageTools } = this.#parts
    return captureDigest(this.#capture(name), engine, pageTools.sha256)
  }

  #capture(name: string | null): ComponentCapture {
    const { instance, wasi, calls, clock, gate, start, pageTools } = this.#parts
    const { capabilities } = gate
    return captureComponent(
      { instance, wasi, calls, clock, capabilities, seed: start.seed },
      name,
      pageTools.samePage,
    )
  }

  #machine(name: string, args: readonly unknown[], waits = false): CallMachine {
    const { instance, calls, clock } = this.#parts
    const capture = (call: string): ComponentCapture => this.#capture(call)
    const digest = (call: string | null): string => this.#digest(call)
    return new CallMachine({ instance, calls, clock, name, args, capture, digest }, waits)
  }

  get #nowMs(): number {
    return this.#parts.nowMs ?? this.#parts.guestClock.now()
  }

  #idle(): SessionState {
    const { instance, calls } = this.#parts
    const usage = { fuel: instance.fuelUsed, memoryBytes: instance.memoryBytes, calls: calls.count }
    return {
      nowMs: this.#nowMs,
      usage: { ...usage, bytesIn: 0, bytesOut: 0, logsDropped: 0 },
      asked: 0,
      lastId: 0,
      bytesIn: 0,
      bytesOut: 0,
      wallMs: 0,
      idleMs: 0,
      logs: [],
      logsDropped: 0,
      unhandledRejections: [],
    }
  }

  #checkFree(): void {
    if (this.#run !== undefined)
      throw new CaissonError('busy', 'The component is inside of a call; it takes one call at a time.')
  }

  [Symbol.dispose](): void {
    const { wasi, instance } = this.#parts
    this.#lastOutput = { stdout: this.stdout, stderr: this.stderr }
    const session = this.#run?.session
    if (session === undefined || !session.inTurn) this.#run?.machine.dispose()
    session?.finish({
      status: 'failed',
      error: { name: 'AbortError', code: 'aborted', message: 'The component was disposed.' },
    })
    this.#run = undefined
    instance[DISPOSE]()
    wasi?.[DISPOSE]()
  }
}

function deliveryOf(answer: Answer): Delivery {
  const bytes = answer.ok ? measureValue(answer.value ?? null).bytes : answer.error.message.length
  return { answer, bytes, fatal: false }
}
