/** The loops that JavaScript guests run in the host-call suite, written once so that all run the same. */
import { argumentLiteral, type HostCallShape } from './host-call-shapes.ts'

/** How a subject's raw host function takes an object: as it is, or as JSON text that the guest converts. */
export type ObjectPassing = 'value' | 'json'

/**
 * Source of `calls()`, which calls `host` (a function in scope) `shape.calls` times and returns the last answer,
 * or a promise of it when the shape is awaited.
 */
export function callLoopSource(shape: HostCallShape, passing: ObjectPassing, host: string): string {
  const isObject = typeof shape.argument === 'object'
  const wait = shape.awaited ? 'await ' : ''
  const argument = isObject && passing === 'json' ? 'JSON.stringify(argument)' : 'argument'
  const call = `${wait}${host}(${shape.argument === undefined ? '' : argument})`
  const answer = isObject && passing === 'json' ? `JSON.parse(${call})` : call
  return `${shape.awaited ? 'async ' : ''}function calls() {
  const argument = ${argumentLiteral(shape) || 'undefined'}
  let last
  for (let i = 0; i < ${shape.calls}; i++) last = ${answer}
  return last
}`
}
