/**
 * One scenario in one guest of its own.
 *
 * The harness runs in the first turn, the test in the second. A guest that is moved is captured between the two and
 * goes on in another instance; then it is moved again after every job that the test leaves, up to `MOVES` times.
 *
 * Invariants
 * 1. The engine evaluates harness and test as the scripts that they are: nothing is put around them.
 * 2. A test that hangs ends by its fuel.
 */
import type { InstancePool } from '../../../src/isolate/instance-pool.ts'
import { DEFAULT_LIMITS, type Limits } from '../../../src/machine/limits.ts'
import type { MachineStart, SyncCalls, Turn } from '../../../src/machine/turn.ts'
import { MovingIsolate } from '../moving-isolate.ts'
import { EVAL, EVALUATED, type Script, ScriptEvaluator } from '../script-evaluator.ts'
import { DRIVER_CALLS, type DriverReport, driverSource, HOLDER, TEST_SCRIPT } from './guest-driver.ts'
import type { Scenario } from './scenario.ts'
import type { Outcome } from './verdict.ts'

/** Jobs of a test after each of which a moved guest is moved again. Most tests leave fewer. */
const MOVES = 48

/** Some seconds of the engine: the slowest tests that pass take a third of it. */
export const TEST_LIMITS: Limits = {
  ...DEFAULT_LIMITS,
  fuel: 60_000_000_000,
  memoryBytes: 256 * 1024 * 1024,
  calls: 1_000_000,
  bytesIn: 256 * 1024 * 1024,
  bytesOut: 256 * 1024 * 1024,
}

export interface GuestOptions {
  /** Whether the guest is captured in the middle of the test, and restored elsewhere. */
  readonly moves: boolean
  readonly limits: Limits
}

/** Runs a scenario to its end. */
export function runScenario(pool: InstancePool, scenario: Scenario, options: GuestOptions): Outcome {
  const guest = new TestGuest(pool, scenario, options.limits)
  try {
    return guest.run(options.moves)
  } finally {
    guest.dispose()
  }
}

class TestGuest implements SyncCalls {
  readonly #scenario: Scenario
  readonly #isolate: MovingIsolate
  readonly #scripts: ScriptEvaluator
  #report: DriverReport | undefined
  #refusedByParser = false
  readonly #printed: string[] = []

  constructor(pool: InstancePool, scenario: Scenario, limits: Limits) {
    this.#scenario = scenario
    const start: MachineStart = {
      source: driverSource(scenario.harness.length, scenario.mode === 'module'),
      form: 'script',
      fileName: 'test262-host.js',
      input: undefined,
      capabilities: DRIVER_CALLS.map((name) => ({ name: `${HOLDER}.${name}`, sync: name !== 'next' })),
      limits,
      seed: new Uint8Array(32),
      nowMs: Date.UTC(2026, 0, 1),
    }
    this.#isolate = new MovingIsolate(pool, this, start, scenario.modules)
    this.#scripts = new ScriptEvaluator(this.#isolate)
  }

  run(moves: boolean): Outcome {
    let turn = this.#isolate.start()
    const next = turn.calls.at(0)
    if (turn.status !== 'waiting' || next === undefined) return this.#outcome(turn)
    const answer = { id: next.id, ok: true, value: undefined } as const
    if (!moves) return this.#outcome(this.#isolate.settle([answer]))
    this.#isolate.move()
    turn = this.#isolate.settle([answer], { jobs: 1 })
    for (let i = 0; i < MOVES && turn.status === 'waiting' && this.#isolate.isHeldBack; i += 1) {
      this.#isolate.move()
      turn = this.#isolate.settle([], { jobs: 1 })
    }
    if (turn.status === 'waiting') turn = this.#isolate.settle([])
    return this.#outcome(turn)
  }

  dispose(): void {
    this.#isolate.dispose()
  }

  /** The guest's calls, by the order of `DRIVER_CALLS`. */
  call(index: number, args: unknown): unknown {
    switch (DRIVER_CALLS[index]) {
      case 'adopt':
        this.#scripts.adopt(HOLDER)
        return undefined
      case 'evaluate':
        return this.#evaluate(args as number | string)
      case 'print':
        this.#printed.push(String(args))
        return undefined
      case 'report':
        this.#report ??= args as DriverReport
        return undefined
      default:
        return undefined
    }
  }

  #outcome(turn: Turn): Outcome {
    return {
      end: turn.status === 'waiting' ? undefined : turn,
      report: this.#report,
      refusedByParser: this.#refusedByParser,
      printed: this.#printed,
      fuel: turn.usage.fuel,
    }
  }

  #evaluate(which: number | string): number {
    const { script, mode, test } = this.#scenario
    if (typeof which === 'string') {
      return this.#scripts.evaluate({ fileName: test.path, source: which }, EVAL.script)
    }
    if (which !== TEST_SCRIPT) return this.#scripts.evaluate(this.#harness(which), EVAL.script)
    const goal = mode === 'module' ? EVAL.module : EVAL.script
    const phase = test.matter.negative?.phase
    // A module that is compiled twice would be two modules.
    if (phase === 'parse' || (phase !== undefined && mode !== 'module')) {
      const ended = this.#scripts.evaluate(script, goal | EVAL.compileOnly)
      this.#refusedByParser = ended === EVALUATED.thrown
      if (this.#refusedByParser || phase === 'parse') return ended
    }
    return this.#scripts.evaluate(script, goal)
  }

  #harness(index: number): Script {
    const script = this.#scenario.harness[index]
    if (script === undefined) throw new Error(`There is no harness script ${index}.`)
    return script
  }
}
