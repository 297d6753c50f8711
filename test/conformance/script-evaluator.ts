/**
 * Evaluates scripts in a guest as the engine does at the top, in the middle of a turn: the guest calls a sync function,
 * and what the script came to lies in a box of the guest's, where no copy is made of it.
 */
import type { MovingIsolate } from './moving-isolate.ts'

/** A script or module. */
export interface Script {
  readonly fileName: string
  readonly source: string
}

/** Flags of the engine's eval. */
export const EVAL = { script: 0, module: 1, compileOnly: 32 } as const

/** What became of a script. */
export const EVALUATED = { value: 0, thrown: 1, promise: 2 } as const

/**
 * The guest's part of it: calls `adopt`, which is in scope, with a box in the global `holder`, which is gone then.
 * Declares `take`, which gives what lies in the box.
 */
export function adoptBox(holder: string): string {
  return `const box = Object.assign(Object.create(null), { value: undefined })
  globalThis.${holder}.box = box
  adopt()
  delete globalThis.${holder}
  const take = () => {
    const { value } = box
    box.value = undefined
    return value
  }`
}

export class ScriptEvaluator {
  readonly #isolate: MovingIsolate
  /** Cell of the box, at the same address wherever the guest moves. */
  #box = 0

  constructor(isolate: MovingIsolate) {
    this.#isolate = isolate
  }

  /** Takes hold of the box in the global `holder`. */
  adopt(holder: string): void {
    const object = this.#property(this.#isolate.pooled.guest.global, holder)
    this.#box = this.#property(object, 'box')
    this.#isolate.pooled.free(object)
  }

  /** Evaluates, and puts what it came to or what was thrown into the box. One of `EVALUATED`. */
  evaluate({ source, fileName }: Script, flags: number): number {
    const { pooled } = this.#isolate
    const { instance, guest } = pooled
    const code = instance.allocateText(source)
    const file = instance.allocateText(fileName)
    const cell = instance.exports.QTS_Eval(guest.context, code.pointer, code.bytes, file.pointer, 0, flags)
    instance.exports.free(code.pointer)
    instance.exports.free(file.pointer)
    const thrown = pooled.exceptionOf(cell)
    const key = instance.newString(guest.context, 'value')
    instance.exports.QTS_SetProp(guest.context, this.#box, key, thrown === 0 ? cell : thrown)
    const isPromise = thrown === 0 && instance.exports.QTS_PromiseState(guest.context, cell) >= 0
    pooled.free(key, cell, ...(thrown === 0 ? [] : [thrown]))
    if (thrown !== 0) return EVALUATED.thrown
    return isPromise ? EVALUATED.promise : EVALUATED.value
  }

  #property(object: number, name: string): number {
    const { instance, guest } = this.#isolate.pooled
    const key = instance.newString(guest.context, name)
    const cell = instance.exports.QTS_GetProp(guest.context, object, key)
    this.#isolate.pooled.free(key)
    return cell
  }
}
