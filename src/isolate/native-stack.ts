/**
 * Makes sure, before the first guest, that the host's own stack holds what guests may use of it.
 *
 * Guests end at a metered depth, long before a usual host stack does. A host with an unusually small one
 * (`--stack-size`, some thread pools) would overflow first, at a depth that differs from run to run; such a
 * host is refused before any guest starts.
 */
import { CaissonError } from '../base/errors.ts'
import type { BaseImage } from './base-image.ts'
import type { Engine } from './engine.ts'
import { EngineInstance } from './engine-instance.ts'

/** The recursion that needs the most native stack for its metered depth: a builtin that calls itself. */
const DEEPEST = 'let x = []; for (let i = 0; i < 2e4; i += 1) x = [x]; x.flat(Infinity)'
const FUEL = 1_000_000_000
const MEMORY_BYTES = 16 * 1024 * 1024

/** What was found to hold, by base image: engine and thread stay the same. */
const checked = new WeakMap<BaseImage, number>()

/**
 * Recurses to `stackBytes` in a guest that is thrown away, the first time that this depth is asked for. Call it
 * from a shallow stack, as turns are.
 * @throws CaissonError `native_stack_low`
 */
export function checkNativeStack(engine: Engine, base: BaseImage, stackBytes: number): void {
  if (stackBytes <= (checked.get(base) ?? 0)) return
  recurse(engine, base, stackBytes)
  checked.set(base, stackBytes)
}

function recurse(engine: Engine, base: BaseImage, stackBytes: number): void {
  const instance = new EngineInstance(engine, MEMORY_BYTES / 65_536, () => 0)
  base.restore(instance)
  instance.serve({ call: () => 0, readClock: () => 0, promiseRejection: () => {} }, MEMORY_BYTES)
  instance.gauge.reset(FUEL)
  instance.gauge.begin(stackBytes, Number.POSITIVE_INFINITY, undefined)
  const code = instance.allocateText(DEEPEST)
  const file = instance.allocateText('caisson:probe')
  try {
    instance.exports.QTS_Eval(base.guest.context, code.pointer, code.bytes, file.pointer, 0, 0)
  } catch (cause) {
    if (instance.gauge.stopReason === 'stack') return
    throw new CaissonError(
      'native_stack_low',
      "The host's own stack is too small for guests with this stack limit. Raise it (node --stack-size), or lower limits.stackBytes.",
      { cause, details: { stackBytes } },
    )
  }
}
