/**
 * The QuickJS runtime and context inside an instance, with the few things every guest starts with.
 *
 * Built once per process for the base image; every isolate gets a copy of that memory, so the pointers here
 * are the same in all of them.
 */

import { CaissonError } from '../base/errors.ts'
import type { EngineInstance } from './engine-instance.ts'
import { HOST_FUNCTIONS } from './host-functions.ts'

/** Pointers into a guest whose base image was installed. All of them are cells that live as long as the guest. */
export interface GuestRuntime {
  readonly runtime: number
  readonly context: number
  readonly global: number
  readonly undefined: number
  readonly null: number
  readonly true: number
  readonly false: number
  /** The string `default`: where the result of a module stands. */
  readonly defaultName: number
  /** 256 bytes for out-parameters and argument lists. */
  readonly scratch: number
  /** The guest-side half of the bridge. */
  readonly builder: number
  /** Functions of `guest/prelude/timers.ts`. */
  readonly fireTimer: number
  readonly nextTimer: number
  readonly countTimers: number
  /** Gives the library the capability that its `fetch` stands on (`guest/prelude/main.ts`). */
  readonly lendFetch: number
  /** The same of the one by which its bodies are read. */
  readonly lendReadBody: number
}

/** A C stack limit inside the engine; the metered depth ends every recursion before it. */
const BACKSTOP_MARGIN = 8_192

/** Initialises runtime and context in a fresh instance. */
export function installGuestRuntime(instance: EngineInstance): GuestRuntime {
  const x = instance.exports
  x.__wasm_call_ctors()
  const runtime = x.QTS_NewRuntime()
  const { layout, guest } = instance.engine
  const { stackBase, stackEnd, rejectionField, rejectionSlot } = layout
  x.QTS_RuntimeSetMaxStackSize(runtime, stackBase - stackEnd - BACKSTOP_MARGIN)
  const context = x.QTS_NewContext(runtime, 0)
  instance.words[(runtime + rejectionField) >>> 2] = rejectionSlot
  const cells = {
    runtime,
    context,
    global: x.QTS_GetGlobalObject(context),
    undefined: x.QTS_GetUndefined(),
    null: x.QTS_GetNull(),
    true: x.QTS_GetTrue(),
    false: x.QTS_GetFalse(),
    defaultName: instance.newString(context, 'default'),
    scratch: instance.allocate(256),
    builder: evaluateTrusted(instance, context, guest.bridge, 'bridge'),
  }
  return { ...cells, ...installPrelude(instance, cells) }
}

/** What the prelude gives the host to call. */
type PreludeCells = Pick<
  GuestRuntime,
  'fireTimer' | 'nextTimer' | 'countTimers' | 'lendFetch' | 'lendReadBody'
>

/** Evaluates the prelude and gives it the host functions that it was built with. */
function installPrelude(
  instance: EngineInstance,
  cells: Pick<GuestRuntime, 'context' | 'scratch' | 'undefined'>,
): PreludeCells {
  const { exports: x, engine } = instance
  const { context, scratch } = cells
  const prelude = evaluateTrusted(instance, context, engine.guest.prelude, 'prelude')
  const functions = engine.guest.hostFunctions.map((name) =>
    newHostFunction(instance, context, name, hostFunctionId(name)),
  )
  functions.forEach((cell, i) => {
    instance.words[(scratch >>> 2) + i] = cell
  })
  const installed = x.QTS_Call(context, prelude, cells.undefined, functions.length, scratch)
  const given = (name: keyof PreludeCells): number => {
    const key = instance.newString(context, name)
    const cell = x.QTS_GetProp(context, installed, key)
    x.QTS_FreeValuePointer(context, key)
    return cell
  }
  const called: PreludeCells = {
    fireTimer: given('fireTimer'),
    nextTimer: given('nextTimer'),
    countTimers: given('countTimers'),
    lendFetch: given('lendFetch'),
    lendReadBody: given('lendReadBody'),
  }
  for (const cell of [installed, prelude, ...functions]) x.QTS_FreeValuePointer(context, cell)
  return called
}

/** @throws CaissonError `engine_mismatch` */
function hostFunctionId(name: string): number {
  if (Object.hasOwn(HOST_FUNCTIONS, name)) return HOST_FUNCTIONS[name as keyof typeof HOST_FUNCTIONS]
  throw new CaissonError(
    'engine_mismatch',
    `The engine's guests need "${name}" of the host, which this version does not have. Update the package.`,
  )
}

/** A function object in the guest that calls host function `id`. The caller owns the cell. */
export function newHostFunction(instance: EngineInstance, context: number, name: string, id: number): number {
  const text = instance.allocateText(name)
  const cell = instance.exports.QTS_NewFunction(context, text.pointer, 0, 0, id)
  instance.exports.free(text.pointer)
  return cell
}

/** Evaluates a source of ours. @returns an owned cell of what it evaluates to, which may be an exception */
export function evaluateTrusted(
  instance: EngineInstance,
  context: number,
  source: string,
  name: string,
): number {
  const code = instance.allocateText(source)
  const file = instance.allocateText(`caisson:${name}`)
  const cell = instance.exports.QTS_Eval(context, code.pointer, code.bytes, file.pointer, 0, 0)
  instance.exports.free(code.pointer)
  instance.exports.free(file.pointer)
  return cell
}
