/** Makes an instance of a core module, and finds its functions. */
import { CaissonError } from '../../base/errors.ts'
import type { CompiledModule } from '../../ports/engine-source.ts'
import type { CoreInstance } from './core-instance.ts'

export type WasmFunction = (...args: readonly unknown[]) => unknown

/** @throws CaissonError `invalid_module` where it does not fit its imports, `machine_lost` where the host has no room */
export function linkCore(module: CompiledModule, imports: WebAssembly.Imports): WebAssembly.Instance {
  try {
    return new WebAssembly.Instance(module as WebAssembly.Module, imports)
  } catch (cause) {
    if (cause instanceof RangeError) {
      throw new CaissonError('machine_lost', 'The host has no room for the memory of this guest.', { cause })
    }
    const message = cause instanceof Error ? cause.message.slice(0, 400) : 'unknown'
    throw new CaissonError('invalid_module', `The module cannot be instantiated: ${message}`, { cause })
  }
}

/** @throws CaissonError `invalid_argument` for an export that is none */
export function functionOf(instance: CoreInstance, name: string): WasmFunction {
  const found = Object.hasOwn(instance.exports, name) ? instance.exports[name] : undefined
  if (typeof found !== 'function') {
    throw new CaissonError(
      'invalid_argument',
      `The module exports no function ${JSON.stringify(name.slice(0, 80))}.`,
    )
  }
  return found as WasmFunction
}
