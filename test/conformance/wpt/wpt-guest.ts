/**
 * One test of web-platform-tests in one guest of its own.
 *
 * Time is the guest's: when nothing is left to run but a timer, it is due at once. A guest that is moved goes on in
 * another instance after every job and before every timer, up to `MOVES` times.
 */
import type { InstancePool } from '../../../src/isolate/instance-pool.ts'
import { DEFAULT_LIMITS, type Limits } from '../../../src/machine/limits.ts'
import type { Answer, MachineStart, SyncCalls, Turn } from '../../../src/machine/turn.ts'
import { MovingIsolate } from '../moving-isolate.ts'
import { EVAL, type Script, ScriptEvaluator } from '../script-evaluator.ts'
import { WPT_CALLS, WPT_HOLDER, type WptReport, wptDriverSource } from './wpt-driver.ts'

/** Jobs after each of which a moved guest is moved again, and timers before which it is. */
const MOVES = 100

/** Timers that one test may wait for: tests of intervals come to some hundreds. */
const TIMERS = 10_000

const LIMITS: Limits = {
  ...DEFAULT_LIMITS,
  fuel: 60_000_000_000,
  memoryBytes: 256 * 1024 * 1024,
  calls: 10_000_000,
  bytesIn: 256 * 1024 * 1024,
  bytesOut: 256 * 1024 * 1024,
}

/** A test with all that it is run with. */
export interface WptScenario {
  /** `testharness.js`, what the test asks for, and the test. */
  readonly scripts: readonly Script[]
  /** Where the test would be in the suite's own server. */
  readonly href: string
  /** Text of a file that the test fetches. */
  readonly readFile: (path: string) => string | undefined
}

export interface WptOutcome {
  readonly reports: readonly WptReport[]
  /** Why the guest came to no end, if so. */
  readonly stopped: string | undefined
  readonly fuel: number
}

export function runWptScenario(pool: InstancePool, scenario: WptScenario, moves: boolean): WptOutcome {
  const guest = new WptGuest(pool, scenario)
  try {
    return guest.run(moves)
  } finally {
    guest.dispose()
  }
}

class WptGuest implements SyncCalls {
  readonly #scenario: WptScenario
  readonly #isolate: MovingIsolate
  readonly #scripts: ScriptEvaluator
  readonly #reports: WptReport[] = []
  #isDone = false

  constructor(pool: InstancePool, scenario: WptScenario) {
    this.#scenario = scenario
    const start: MachineStart = {
      source: wptDriverSource(scenario.scripts.length, scenario.href),
      form: 'script',
      fileName: 'wpt-host.js',
      input: undefined,
      capabilities: WPT_CALLS.map((name) => ({ name: `${WPT_HOLDER}.${name}`, sync: name !== 'next' })),
      limits: LIMITS,
      seed: new Uint8Array(32),
      nowMs: Date.UTC(2026, 0, 1),
    }
    this.#isolate = new MovingIsolate(pool, this, start)
    this.#scripts = new ScriptEvaluator(this.#isolate)
  }

  run(moves: boolean): WptOutcome {
    let turn = this.#isolate.start()
    const next = turn.calls.at(0)
    if (next === undefined) return this.#outcome(turn)
    let left = moves ? MOVES : 0
    const settle = (answers: readonly Answer[], nowMs?: number): void => {
      const move = left > 0
      if (move) this.#isolate.move()
      left -= 1
      turn = this.#isolate.settle(answers, { jobs: move ? 1 : undefined, nowMs })
    }
    const step = (answers: readonly Answer[], nowMs?: number): void => {
      settle(answers, nowMs)
      while (turn.status === 'waiting' && this.#isolate.isHeldBack) settle([], nowMs)
    }
    step([{ id: next.id, ok: true, value: undefined }])
    for (let i = 0; i < TIMERS && !this.#isDone && turn.status === 'waiting'; i += 1) {
      if (turn.wakeAtMs === undefined) break
      step([], turn.wakeAtMs)
    }
    return this.#outcome(turn)
  }

  dispose(): void {
    this.#isolate.dispose()
  }

  /** The guest's calls, by the order of `WPT_CALLS`. */
  call(index: number, args: unknown): unknown {
    switch (WPT_CALLS[index]) {
      case 'adopt':
        this.#scripts.adopt(WPT_HOLDER)
        return undefined
      case 'evaluate':
        return this.#evaluate(args as number)
      case 'readFile':
        return this.#scenario.readFile(String(args))
      case 'report':
        this.#reports.push(args as WptReport)
        this.#isDone ||= (args as WptReport).kind !== 'result'
        return undefined
      default:
        return undefined
    }
  }

  #evaluate(index: number): number {
    const script = this.#scenario.scripts[index]
    if (script === undefined) throw new Error(`There is no script ${index}.`)
    return this.#scripts.evaluate(script, EVAL.script)
  }

  #outcome(turn: Turn): WptOutcome {
    const stopped = this.#isDone
      ? undefined
      : turn.status === 'failed'
        ? `${turn.error.name}: ${turn.error.message}`
        : turn.status === 'exhausted'
          ? `exhausted: ${turn.limit}`
          : 'Some of its tests never came to their end.'
    return { reports: this.#reports, stopped, fuel: turn.usage.fuel }
  }
}
