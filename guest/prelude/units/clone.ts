/**
 * `structuredClone`. The host reads the value from the guest's heap and writes a copy, so that no code of the guest
 * runs. What HTML would call a getter for is refused.
 */
import { dictionary, requireArguments } from '../arguments.ts'
import type { Unit } from '../host.ts'
import type { DOMExceptionExports } from './dom-exception.ts'

/** What the types of ES2023 do not have yet. */
interface Transferable extends ArrayBuffer {
  readonly detached: boolean
  transfer(bytes: number): ArrayBuffer
}

const unit: Unit = ({ host, use }) => {
  const exceptions = (): DOMExceptionExports => use('dom-exception') as unknown as DOMExceptionExports
  const refusal = (message: string): Error => new (exceptions().DOMException)(message, 'DataCloneError')

  /** @throws DataCloneError unless each is a buffer that can be given away */
  function checkTransfer(list: readonly unknown[]): asserts list is Transferable[] {
    for (let i = 0; i < list.length; i += 1) {
      const buffer = list[i]
      if (!(buffer instanceof ArrayBuffer)) {
        throw refusal(`structuredClone transfers ArrayBuffers only, and transfer[${i}] is none.`)
      }
      if ((buffer as Transferable).detached)
        throw refusal(`structuredClone cannot transfer transfer[${i}]: it is detached.`)
      if (list.indexOf(buffer) !== i) throw refusal(`structuredClone is given transfer[${i}] twice.`)
    }
  }

  return {
    structuredClone(value: unknown, options: unknown = null): unknown {
      requireArguments(arguments.length, 1, 'structuredClone')
      const { transfer } = dictionary(options, 'structuredClone')
      const list: readonly unknown[] = transfer === undefined ? [] : [...(transfer as Iterable<unknown>)]
      checkTransfer(list)
      const exception =
        typeof value === 'object' && value !== null ? exceptions().exceptionParts(value) : undefined
      if (exception !== undefined) return new (exceptions().DOMException)(exception.message, exception.name)
      let copy: unknown
      try {
        copy = host.clone(value)
      } catch (error) {
        throw refusal((error as Error).message.replace('cross the bridge', 'be cloned'))
      }
      for (const buffer of list) buffer.transfer(0)
      return copy
    },
  }
}
export default unit
