/** What a capture of an instance is made of, and a restored one filled with. */
import { CaissonError } from '../base/errors.ts'
import type { HandleTable, LiveResource } from './abi/resources.ts'
import type { ComponentWait } from './component-wait.ts'
import type { CapturedGuest } from './core/capture-core.ts'
import type { CoreInstance } from './core/core-instance.ts'
import type { InstanceMeter } from './instance-meter.ts'
import type { CallSteps } from './link/component-function.ts'

export interface InstanceParts {
  readonly guest: CapturedGuest
  readonly handles: readonly HandleTable[]
  /** In the order in which they came to life. */
  readonly resources: readonly LiveResource[]
}

/** The modules of an instance between two turns, as one guest. */
export function capturedGuest(
  cores: readonly CoreInstance[],
  ended: boolean,
  meter: InstanceMeter,
  wait: ComponentWait,
): CapturedGuest {
  const { entry, core, suspension } = wait
  return {
    instances: cores,
    ended,
    fuelUsed: meter.gauge.consumed,
    suspension,
    entered:
      suspension === undefined || core === undefined || entry === undefined
        ? undefined
        : { instance: cores.indexOf(core), name: entry },
    adopt: (index, name, waits, fuelUsed) => {
      const made = cores[index]
      const entered = made?.exports[name]
      if (made === undefined || made !== core || typeof entered !== 'function')
        throw new CaissonError('corrupted', 'The captured component waits in a module that cannot wait.')
      meter.adopt(fuelUsed)
      wait.begin(entered as CallSteps['core'])
      wait.adopt(waits)
    },
    adoptFuel: (fuelUsed) => meter.adopt(fuelUsed),
  }
}
