/** A machine whose guest is a function of the test: it gets every turn's answers and says how the turn ends. */
import { CaissonError } from '../base/errors.ts'
import type { Gate } from '../capability/gate.ts'
import { DEFAULT_LIMITS, type Limits } from './limits.ts'
import type {
  Answer,
  LogEntry,
  Machine,
  MachineCapture,
  MachineRestore,
  MachineStart,
  PendingCall,
  Turn,
  TurnControl,
  TurnEnd,
  Usage,
} from './turn.ts'

/** One turn, as the scripted guest sees it. */
export interface ScriptedTurn {
  /** 1 for the turn of `start`. */
  readonly number: number
  readonly answers: readonly Answer[]
  readonly control: TurnControl
  readonly nowMs: number
  /** Asks for a call; returns its id. */
  call(capability: string, args?: unknown, bytes?: number): number
  log(text: string): void
  /** Overrides what the machine says about usage. */
  usage(usage: Partial<Usage>): void
}

/** Waits for a timer too. */
export function sleeping(wakeAtMs: number): TurnEnd {
  return { status: 'waiting', wakeAtMs }
}

export const waiting: TurnEnd = { status: 'waiting' }
export function completed(value: unknown): TurnEnd {
  return { status: 'completed', value }
}

export class ScriptedMachine implements Machine {
  readonly turns: ScriptedTurn[] = []
  disposed = false
  /** Makes turns take place in a later task, as a machine in a Worker does. */
  asynchronous = false
  wakeAtMs: number | undefined
  readonly #guest: (turn: ScriptedTurn) => TurnEnd
  #pending: PendingCall[] = []
  #lastId = 0
  #usage: Usage = { fuel: 0, memoryBytes: 0, calls: 0, bytesIn: 0, bytesOut: 0, logsDropped: 0 }

  constructor(guest: (turn: ScriptedTurn) => TurnEnd) {
    this.#guest = guest
  }

  get pending(): readonly PendingCall[] {
    return this.#pending
  }

  start({ nowMs }: MachineStart, control: TurnControl): Turn | Promise<Turn> {
    return this.#turn([], nowMs, control)
  }

  settle(answers: readonly Answer[], nowMs: number, control: TurnControl): Turn | Promise<Turn> {
    for (const { id } of answers) {
      if (!this.#pending.some((call) => call.id === id))
        throw new CaissonError('unknown_call', `No call ${id}.`)
      this.#pending = this.#pending.filter((call) => call.id !== id)
    }
    return this.#turn(answers, nowMs, control)
  }

  capture(): MachineCapture {
    const { wakeAtMs } = this
    const state = { lastId: this.#lastId, pending: this.#pending, usage: this.#usage, wakeAtMs }
    return { memoryBytes: 0, changes: [], state: structuredClone(state) }
  }

  restore({ state }: MachineRestore): void {
    const { lastId, pending, usage, wakeAtMs } = state as {
      lastId: number
      pending: PendingCall[]
      usage: Usage
      wakeAtMs: number | undefined
    }
    this.wakeAtMs = wakeAtMs
    this.#lastId = lastId
    this.#pending = [...pending]
    this.#usage = usage
  }

  stateDigest(): string {
    return 'scripted'
  }

  dispose(): void {
    this.disposed = true
  }

  #turn(answers: readonly Answer[], nowMs: number, control: TurnControl): Turn | Promise<Turn> {
    const calls: PendingCall[] = []
    const logs: LogEntry[] = []
    const turn: ScriptedTurn = {
      number: this.turns.length + 1,
      answers,
      control,
      nowMs,
      call: (capability, args, bytes = 8) => {
        calls.push({ id: ++this.#lastId, capability, args, bytes, askedAtMs: nowMs })
        return this.#lastId
      },
      log: (text) => {
        logs.push({ level: 'log', text, atMs: nowMs })
      },
      usage: (usage) => {
        this.#usage = { ...this.#usage, ...usage }
      },
    }
    this.turns.push(turn)
    const finish = (): Turn => {
      const end = this.#guest(turn)
      this.wakeAtMs = end.status === 'waiting' ? end.wakeAtMs : undefined
      this.#pending.push(...calls)
      return { ...end, calls, logs, unhandledRejections: [], usage: this.#usage }
    }
    if (!this.asynchronous) return finish()
    return new Promise((resolve) => setTimeout(() => resolve(finish()), 1))
  }
}

/** A start for a scripted machine, with the capabilities of `gate`. */
export function scriptedStart(gate: Gate, limits: Partial<Limits> = {}): MachineStart {
  return {
    source: '',
    form: 'auto',
    fileName: 'guest.js',
    input: undefined,
    capabilities: gate.capabilities,
    limits: { ...DEFAULT_LIMITS, ...limits },
    seed: new Uint8Array(32),
    nowMs: 1_000,
  }
}
