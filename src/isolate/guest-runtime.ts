/**
 * The QuickJS runtime and context inside an instance, with the few things every guest starts with.
 *
 * Built once per process for the base image; every isolate gets a copy of that memory, so the pointers here
 * are the same in all of them.
 */

import { BRIDGE_SOURCE } from './bridge/bridge-source.ts'
import type { EngineInstance } from './engine-instance.ts'

/** Ids of host functions. Capabilities follow from `FIRST_CAPABILITY` in the order of `MachineStart.capabilities`. */
export const HOST_FUNCTIONS = {
  debug: 1,
  log: 2,
  info: 3,
  warn: 4,
  error: 5,
  random: 6,
} as const
export const FIRST_CAPABILITY = 16

/** Pointers into a guest whose base image was installed. All of them are cells that live as long as the guest. */
export interface GuestRuntime {
  readonly runtime: number
  readonly context: number
  readonly global: number
  readonly undefined: number
  readonly null: number
  readonly true: number
  readonly false: number
  /** The strings `value` and `default`: where the result of a program stands. */
  readonly valueName: number
  readonly defaultName: number
  /** 64 bytes for out-parameters and argument lists. */
  readonly scratch: number
  /** The guest-side half of the bridge. */
  readonly builder: number
}

/** A C stack limit inside the engine; the metered depth ends every recursion before it. */
const BACKSTOP_MARGIN = 8_192

/**
 * What the guest finds beside the language: `console`, and `Math.random` on the host's recorded stream. A failure of
 * a call has no stack before the guest throws it: until then it inherits an empty one, as text like any other.
 * Receives the host functions by name. Everything it defines is as non-enumerable as the built-ins are.
 */
const SETUP_SOURCE = `((debug, log, info, warn, error, random) => {
  const define = (object, name, value) =>
    Object.defineProperty(object, name, { value, writable: true, configurable: true, enumerable: false })
  define(Math, 'random', random)
  const console = {}
  for (const fn of [debug, log, info, warn, error]) define(console, fn.name, fn)
  define(globalThis, 'console', console)
  define(Error.prototype, 'stack', '')
})`

/** Initialises runtime and context in a fresh instance. */
export function installGuestRuntime(instance: EngineInstance): GuestRuntime {
  const x = instance.exports
  x.__wasm_call_ctors()
  const runtime = x.QTS_NewRuntime()
  const { stackBase, stackEnd, rejectionField, rejectionSlot } = instance.engine.layout
  x.QTS_RuntimeSetMaxStackSize(runtime, stackBase - stackEnd - BACKSTOP_MARGIN)
  const context = x.QTS_NewContext(runtime, 0)
  instance.words[(runtime + rejectionField) >>> 2] = rejectionSlot
  const cells: GuestRuntime = {
    runtime,
    context,
    global: x.QTS_GetGlobalObject(context),
    undefined: x.QTS_GetUndefined(),
    null: x.QTS_GetNull(),
    true: x.QTS_GetTrue(),
    false: x.QTS_GetFalse(),
    valueName: instance.newString(context, 'value'),
    defaultName: instance.newString(context, 'default'),
    scratch: instance.allocate(64),
    builder: evaluateTrusted(instance, context, BRIDGE_SOURCE),
  }
  const setup = evaluateTrusted(instance, context, SETUP_SOURCE)
  const functions = Object.entries(HOST_FUNCTIONS).map(([name, id]) =>
    newHostFunction(instance, context, name, id),
  )
  functions.forEach((cell, i) => {
    instance.words[(cells.scratch >>> 2) + i] = cell
  })
  for (const cell of [
    x.QTS_Call(context, setup, cells.undefined, functions.length, cells.scratch),
    setup,
    ...functions,
  ]) {
    x.QTS_FreeValuePointer(context, cell)
  }
  return cells
}

/** A function object in the guest that calls host function `id`. The caller owns the cell. */
export function newHostFunction(instance: EngineInstance, context: number, name: string, id: number): number {
  const text = instance.allocateText(name)
  const cell = instance.exports.QTS_NewFunction(context, text.pointer, 0, 0, id)
  instance.exports.free(text.pointer)
  return cell
}

/** Evaluates a source of ours in a guest that has not run any other code yet. */
function evaluateTrusted(instance: EngineInstance, context: number, source: string): number {
  const code = instance.allocateText(source)
  const file = instance.allocateText('caisson:setup')
  const cell = instance.exports.QTS_Eval(context, code.pointer, code.bytes, file.pointer, 0, 0)
  instance.exports.free(code.pointer)
  instance.exports.free(file.pointer)
  return cell
}
