/**
 * Gives a guest modules out of a folder of tests, through the engine's own loader: what is tested then is what the
 * engine does with modules. How a host resolves and hands over the modules of a program has tests of its own.
 */
import type { EngineInstance, InstanceHandlers } from '../../src/isolate/engine-instance.ts'

/** Where modules come from. */
export interface ModuleSource {
  /** The name by which a module is known that `base` imports as `specifier`. */
  readonly normalize: (base: string, specifier: string) => string
  /** Its source, or undefined where there is no such module. */
  readonly load: (name: string) => string | undefined
}

/** From the next time on that the instance serves a guest. @returns how to end it */
export function lendModules(instance: EngineInstance, source: ModuleSource): () => void {
  const own = instance.serve
  const serve = (handlers: InstanceHandlers, memoryBytes: number): void => {
    const lending = new Proxy(handlers, {
      get(target, key): unknown {
        if (key === 'normalizeModule') return normalize
        if (key === 'loadModule') return (name: string) => load(target, name)
        const value: unknown = Reflect.get(target, key)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
    own.call(instance, lending, memoryBytes)
  }
  const normalize = (base: string, specifier: string): number =>
    instance.allocateText(source.normalize(base, specifier)).pointer
  const load = (handlers: InstanceHandlers, name: string): number => {
    const text = source.load(name)
    // The guest's own loader knows no module: it throws there what a missing one throws.
    return text === undefined ? (handlers.loadModule?.(name) ?? 0) : instance.allocateText(text).pointer
  }
  Object.assign(instance, { serve })
  return () => Reflect.deleteProperty(instance, 'serve')
}
