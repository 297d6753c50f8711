/**
 * Functions between components, and between a component and its host.
 *
 * Invariants
 * 1. An import never throws into a guest: what is wrong is told to the fault domain, which stops the guest, and the import
 *    returns zero.
 * 2. While a guest's allocator or clean-up runs for us it may not call out (`mayLeave`).
 * 3. An import whose call is suspended is called again with the same core values when it may go on. Its arguments were
 *    lifted the first time: handles that it gave away are not looked for twice. (In another process they are lifted again:
 *    nothing that has handles is suspended there.)
 *
 * Source: CanonicalABI.md, "canon lift" and "canon lower".
 */
import { checkResult } from '../abi/check-value.ts'
import { GuestFault, GuestMemory } from '../abi/guest-memory.ts'
import { FlatReader, liftFlat, loadAt } from '../abi/lift.ts'
import { lowerFlat, storeAt } from '../abi/lower.ts'
import { BorrowScope, type HandleTable } from '../abi/resources.ts'
import type { ValueContext } from '../abi/value-context.ts'
import type { CoreType, FunctionType } from '../abi/wit-type.ts'
import type { StringEncoding } from '../binary/component-ast.ts'
import type { FaultDomain } from './fault-domain.ts'

/** Answer of a host function whose call waits: nothing happened, and it is called again. */
export const SUSPENDED: unique symbol = Symbol('suspended')

export interface ComponentFunction {
  readonly type: FunctionType
  /** @param args checked, or lifted out of another guest */
  call(args: readonly unknown[]): unknown
  /** Of a guest's function: the same in steps, for a call that may be suspended in the second. */
  readonly steps?: CallSteps
  /** Of a function of the host: the two ends of a wait. */
  readonly wait?: HostWait
}

export interface CallSteps {
  /** Core values of the arguments. */
  begin(args: readonly unknown[]): readonly (number | bigint)[]
  readonly core: CoreFunction
  /** Core values of the right types, which a function that is entered again does not look at. */
  readonly blank: readonly (number | bigint)[]
  /** @param returned what `core` returned */
  end(returned: unknown): unknown
}

export interface HostWait {
  /** As the guest calls, before anything of its memory is read. @returns the core values that the call was made with first */
  enter(core: readonly unknown[]): readonly unknown[]
  /**
   * The call is `SUSPENDED`: the guest goes back to where it was entered, if nothing is returned.
   * @returns what makes its answer, or will
   */
  suspend(core: readonly unknown[]): (() => unknown) | Promise<() => unknown> | undefined
  /** Told the core function of the import. */
  lowered?(core: CoreFunction): void
}

export type CoreFunction = (...args: unknown[]) => unknown

/** One component instance, and what its functions share. */
export interface InstanceState {
  readonly handles: HandleTable
  readonly domain: FaultDomain
  mayLeave: boolean
}

export interface LinkedOptions {
  readonly encoding: StringEncoding
  readonly memory: GuestMemory | undefined
  readonly postReturn: CoreFunction | undefined
}

/** The memory that options of a canonical function name, with the guest's allocator. */
export function guestMemory(
  state: InstanceState,
  memory: WebAssembly.Memory | undefined,
  realloc: CoreFunction | undefined,
): GuestMemory | undefined {
  if (memory === undefined) return undefined
  return new GuestMemory(memory, realloc && ((...args) => closed(state, () => realloc(...args))))
}

function closed<T>(state: InstanceState, act: () => T): T {
  const before = state.mayLeave
  state.mayLeave = false
  try {
    return act()
  } finally {
    state.mayLeave = before
  }
}

function contextOf(state: InstanceState, options: LinkedOptions): ValueContext {
  const { memory, encoding } = options
  const { handles, domain } = state
  return { memory, encoding, handles, scope: new BorrowScope(), budget: domain.budget }
}

/** Gives the context of a call: one for all where no handle takes part, since then no call changes it. */
function contexts(state: InstanceState, options: LinkedOptions, type: FunctionType): () => ValueContext {
  if (hasHandles(type)) return () => contextOf(state, options)
  const shared = contextOf(state, options)
  return () => shared
}

/** `canon lift`: a function of a guest, for whoever calls it. What it throws ends the guest. */
export function liftFunction(
  core: CoreFunction,
  type: FunctionType,
  state: InstanceState,
  options: LinkedOptions,
): ComponentFunction {
  const { params, tuple, result } = type
  const inMemory = tuple !== undefined && tuple.flat === undefined
  const resultFlat = result?.flat
  const contextFor = contexts(state, options, type)
  const { domain } = state
  const flatten = (cx: ValueContext, args: readonly unknown[]): (number | bigint)[] => {
    const flat: (number | bigint)[] = []
    if (inMemory) flat.push(storeTuple(cx, type, args))
    else for (const [index, { type: param }] of params.entries()) lowerFlat(cx, param, args[index], flat)
    return flat
  }
  const finish = (cx: ValueContext, returned: unknown): unknown => {
    domain.checkAlive()
    const value =
      result === undefined
        ? undefined
        : resultFlat?.length === 1
          ? liftFlat(cx, result, new FlatReader([returned], resultFlat))
          : loadAt(cx, result, pointerOf(returned))
    const { postReturn } = options
    if (postReturn !== undefined) {
      closed(state, () => (result === undefined ? postReturn() : postReturn(returned)))
      domain.checkAlive()
    }
    cx.scope.end()
    return value
  }
  return {
    type,
    call(args) {
      const cx = contextFor()
      const flat = flatten(cx, args)
      domain.nesting += 1
      const returned = flat.length === 0 ? core() : core(...flat)
      domain.nesting -= 1
      return finish(cx, returned)
    },
    ...(!hasHandles(type) && { steps: stepsOf(core, type, contextFor(), flatten, finish) }),
  }
}

/** Of functions without handles only: their context is the same in every call, and nothing of it has to be kept. */
function stepsOf(
  core: CoreFunction,
  { tuple }: FunctionType,
  cx: ValueContext,
  flatten: (cx: ValueContext, args: readonly unknown[]) => (number | bigint)[],
  finish: (cx: ValueContext, returned: unknown) => unknown,
): CallSteps {
  const flat: readonly CoreType[] = tuple === undefined ? [] : (tuple.flat ?? ['i32'])
  return {
    begin: (args) => flatten(cx, args),
    core,
    blank: flat.map((one) => (one === 'i64' ? 0n : 0)),
    end: (returned) => finish(cx, returned),
  }
}

function hasHandles({ tuple, result }: FunctionType): boolean {
  return tuple?.handles === true || result?.handles === true
}

function storeTuple(cx: ValueContext, { tuple }: FunctionType, args: readonly unknown[]): number {
  if (tuple === undefined || cx.memory === undefined) throw new GuestFault('The guest names no memory.')
  const pointer = cx.memory.allocate(tuple.align, tuple.size)
  storeAt(cx, tuple, args, pointer)
  return pointer
}

function pointerOf(value: unknown): number {
  if (typeof value !== 'number')
    throw new GuestFault('A core function does not give the pointer that its type says.')
  return value >>> 0
}

/** `canon lower`: what a guest imports, as a core function. */
export function lowerFunction(
  target: ComponentFunction,
  state: InstanceState,
  options: LinkedOptions,
  fromHost: boolean,
): CoreFunction {
  const { domain } = state
  const { tuple, result } = target.type
  const flatParams: readonly CoreType[] = tuple === undefined ? [] : (tuple.flat ?? ['i32'])
  const resultFlat = result?.flat
  const returnsFlat = resultFlat !== undefined && resultFlat.length <= 1
  const zero =
    returnsFlat && resultFlat[0] === 'i64' ? 0n : result !== undefined && returnsFlat ? 0 : undefined
  const coreParams: readonly CoreType[] =
    result === undefined || returnsFlat ? flatParams : [...flatParams, 'i32']
  const contextFor = contexts(state, options, target.type)
  let parked: { readonly cx: ValueContext; readonly args: readonly unknown[] } | undefined

  const liftArgs = (cx: ValueContext, core: readonly unknown[]): readonly unknown[] => {
    if (tuple === undefined) return []
    if (tuple.flat === undefined) return loadAt(cx, tuple, pointerOf(core[0])) as readonly unknown[]
    const flat = new FlatReader(core, coreParams)
    return target.type.params.map(({ type }) => liftFlat(cx, type, flat))
  }

  const lowerResult = (cx: ValueContext, core: readonly unknown[], answer: unknown): unknown => {
    if (domain.over) return zero
    if (result === undefined) {
      cx.scope.end()
      return undefined
    }
    const value = fromHost ? checkResult(result, answer, domain.budget) : answer
    let returned: unknown
    if (returnsFlat) {
      const flat: (number | bigint)[] = []
      lowerFlat(cx, result, value, flat)
      returned = flat[0]
    } else {
      storeAt(cx, result, value, pointerOf(core[flatParams.length]))
    }
    cx.scope.end()
    return returned
  }

  const { wait } = target

  const failed = (error: unknown): unknown => {
    parked = undefined
    domain.fail(error)
    return zero
  }

  /** Of a guest whose stack is held meanwhile. */
  const resultLater = async (
    cx: ValueContext,
    core: readonly unknown[],
    coming: Promise<() => unknown>,
  ): Promise<unknown> => {
    try {
      let make = await coming
      for (;;) {
        if (domain.over) return zero
        const answer = make()
        if (answer !== SUSPENDED) return lowerResult(cx, core, answer)
        const next = await wait?.suspend(core)
        if (next === undefined) return zero
        make = next
      }
    } catch (error) {
      return failed(error)
    }
  }

  const lowered: CoreFunction = (...given) => {
    if (domain.over) return zero
    try {
      const core = wait === undefined ? given : wait.enter(given)
      if (!state.mayLeave) throw new GuestFault('The guest called out where it may not.')
      const cx = parked?.cx ?? contextFor()
      const args = parked?.args ?? liftArgs(cx, core)
      let answer = target.call(args)
      while (answer === SUSPENDED) {
        const next = wait?.suspend(core)
        if (next instanceof Promise) return resultLater(cx, core, next)
        if (next === undefined) {
          parked = { cx, args }
          return zero
        }
        answer = next()
      }
      parked = undefined
      return lowerResult(cx, core, answer)
    } catch (error) {
      return failed(error)
    }
  }
  wait?.lowered?.(lowered)
  return lowered
}
