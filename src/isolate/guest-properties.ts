/** What the host does to objects of a guest by itself, and to its globals. */
import type { PooledInstance } from './instance-pool.ts'

/** Sets a property of an object that no code of the guest has seen yet: later, it might run a setter. */
export function setProperty(pooled: PooledInstance, object: number, name: string, value: number): void {
  const { instance, guest } = pooled
  const key = instance.newString(guest.context, name)
  instance.exports.QTS_SetProp(guest.context, object, key, value)
  pooled.free(key)
}

/**
 * As `setProperty`, of an object that a guest has had: a data property of its own, whatever stood there. A writable one
 * stays writable.
 */
export function replaceProperty(pooled: PooledInstance, object: number, name: string, value: number): void {
  const { instance, guest } = pooled
  const { context, undefined: none } = guest
  const key = instance.newString(context, name)
  instance.exports.QTS_DefineProp(context, object, key, value, none, none, 1, 1, 1)
  pooled.free(key)
}

/**
 * @param flags of the engine's eval
 * @returns the cell of what `source` evaluates to, which the caller owns
 */
export function evaluateText(
  pooled: PooledInstance,
  source: string,
  flags: number,
  fileName: string,
): number {
  const { instance, guest } = pooled
  const code = instance.allocateText(source)
  const file = instance.allocateText(fileName)
  const cell = instance.exports.QTS_Eval(guest.context, code.pointer, code.bytes, file.pointer, 0, flags)
  instance.exports.free(code.pointer)
  instance.exports.free(file.pointer)
  return cell
}
