/**
 * What stands behind the imports of a component.
 *
 * One question for each function, asked while the component is opened: what is not answered is missing, and all that is
 * missing is told at once. Nothing is looked up by a name that the guest can choose while it runs.
 */
import { DISPOSE } from '../base/disposal.ts'
import { type FunctionType, hostKey } from './abi/wit-type.ts'

/**
 * Answers one import. Gets checked copies of what the guest passed, in the shapes of `abi/wit-type.ts`, and returns a
 * value of the function's type, which is checked; `SUSPENDED` where the call has to wait and will be made again. What it
 * throws ends the guest.
 */
export type ImportCall = (args: readonly unknown[]) => unknown

export interface ComponentImports {
  /** `undefined` where nobody grants it. */
  func(from: string, name: string, type: FunctionType): ImportCall | undefined
  /** The guest gave back a resource of the host's. */
  dropResource(from: string, name: string, resource: unknown): void
}

/** Interfaces as objects of functions and classes in camelCase, by their names: the form of jco's bindings. */
export type HostInterfaces = Readonly<Record<string, Readonly<Record<string, unknown>>>>

type AnyFunction = (...args: unknown[]) => unknown

/**
 * Takes interfaces in the form of jco's bindings. A function whose type has a `result` may return it as
 * `{ tag: 'ok' | 'err', val }`, or its value alone, or throw what belongs into `err` (as it is, or as `payload`).
 */
export function hostInterfaces(interfaces: HostInterfaces): ComponentImports {
  return {
    func(from, name, type) {
      const found = interfaceOf(interfaces, from)
      const call = found && memberCall(found, name)
      return call && (type.result?.kind === 'result' ? withResult(call, type) : call)
    },
    dropResource(_from, _name, resource) {
      const dispose = (resource as Partial<Disposable> | null)?.[DISPOSE]
      if (typeof dispose === 'function') dispose.call(resource)
    },
  }
}

/** The first that grants a function gives it. */
export function firstOf(all: readonly ComponentImports[]): ComponentImports {
  const owners = new Map<string, ComponentImports>()
  return {
    func(from, name, type) {
      for (const imports of all) {
        const call = imports.func(from, name, type)
        if (call === undefined) continue
        owners.set(from, imports)
        return call
      }
      return undefined
    },
    dropResource(from, name, resource) {
      owners.get(from)?.dropResource(from, name, resource)
    },
  }
}

/** With the version that the component names, or else without any. */
function interfaceOf(
  interfaces: HostInterfaces,
  from: string,
): Readonly<Record<string, unknown>> | undefined {
  if (Object.hasOwn(interfaces, from)) return interfaces[from]
  const [unversioned = from] = from.split('@')
  return Object.hasOwn(interfaces, unversioned) ? interfaces[unversioned] : undefined
}

function memberCall(from: Readonly<Record<string, unknown>>, name: string): ImportCall | undefined {
  const [, kind, own = '', member = ''] =
    /^\[(constructor|method|static)\]([^.]+)(?:\.(.+))?$/.exec(name) ?? []
  if (kind === undefined) {
    const found = functionOf(from, hostKey(name))
    return found && ((args) => found.apply(from, [...args]))
  }
  const type = hostKey(own)
  const made = functionOf(from, type.charAt(0).toUpperCase() + type.slice(1))
  if (made === undefined) return undefined
  if (kind === 'constructor') return (args) => Reflect.construct(made, args as unknown[])
  const key = hostKey(member)
  if (kind === 'static') {
    const found = functionOf(made as unknown as Readonly<Record<string, unknown>>, key)
    return found && ((args) => found.apply(made, [...args]))
  }
  const found = functionOf((made as { prototype?: Readonly<Record<string, unknown>> }).prototype ?? {}, key)
  return found && (([self, ...args]) => found.apply(self, args))
}

function functionOf(object: Readonly<Record<string, unknown>>, key: string): AnyFunction | undefined {
  for (
    let at: object | null = object;
    at !== null && at !== Object.prototype && at !== Function.prototype;
    at = Object.getPrototypeOf(at)
  ) {
    const found = Object.getOwnPropertyDescriptor(at, key)?.value as unknown
    // What a class is made by is no member of what it makes.
    if (typeof found === 'function' && found.prototype !== at) return found as AnyFunction
  }
  return undefined
}

function withResult(call: ImportCall, { result }: FunctionType): ImportCall {
  const hasOk = result?.kind === 'result' && result.cases[0]?.type !== undefined
  const hasErr = result?.kind === 'result' && result.cases[1]?.type !== undefined
  return (args) => {
    try {
      const value = call(args)
      if (typeof value === 'symbol' || isResult(value)) return value
      return hasOk ? { tag: 'ok', val: value } : { tag: 'ok' }
    } catch (thrown) {
      const payload = payloadOf(thrown)
      if (payload === undefined && thrown instanceof Error) throw thrown
      return hasErr ? { tag: 'err', val: payload } : { tag: 'err' }
    }
  }
}

function isResult(value: unknown): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    Object.hasOwn(value, 'tag') &&
    ['ok', 'err'].includes((value as { tag: string }).tag)
  )
}

function payloadOf(thrown: unknown): unknown {
  if (typeof thrown === 'object' && thrown !== null && Object.hasOwn(thrown, 'payload'))
    return (thrown as { payload: unknown }).payload
  return thrown instanceof Error ? undefined : thrown
}
