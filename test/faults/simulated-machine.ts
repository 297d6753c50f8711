/** A machine whose clocks and processes a test decides on. */
import type { Machine } from '../../host-bindings/store/node/machine.node.ts'

export interface SimulatedMachine extends Machine {
  /** Lets time pass for everybody on it. */
  pass(ms: number): void
}

/** A process on a boot named `id`, on which those in `dead` are no more. */
export function simulateMachine(
  id: string,
  process = '1',
  dead: ReadonlySet<string> = new Set(),
): SimulatedMachine {
  let nowMs = 1_000
  return {
    id,
    process,
    uptimeMs: () => nowMs,
    uptimeSlackMs: 0,
    monotonicMs: () => nowMs,
    isThis: (other) => other === id,
    isAlive: (other) => !dead.has(other),
    pass: (ms) => {
      nowMs += ms
    },
  }
}
