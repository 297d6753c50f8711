/**
 * What host functions return to wasm. An engine converts it behind the function's back and throws through wasm frames
 * where it cannot: so it is looked at before.
 */
import { CaissonError } from '../../base/errors.ts'
import type { CoreType } from './core-manifest.ts'

/** A result of these types that means nothing. */
export function zeroOf(types: readonly CoreType[]): unknown {
  const zeros = types.map((type) => (type === 'i64' ? 0n : type === 'ref' ? null : 0))
  return zeros.length > 1 ? zeros : zeros[0]
}

/**
 * @returns `value`, a copy if it is a list
 * @throws CaissonError `invalid_result`
 */
export function checkedResult(types: readonly CoreType[], value: unknown): unknown {
  if (types.length === 0) return undefined
  if (types.length === 1) return checkOne(types[0] as CoreType, value)
  const isRight = Array.isArray(value) && value.length === types.length
  if (!isRight) throw wrong(`a list of ${types.length} results`)
  return types.map((type, at) => checkOne(type, value[at]))
}

function checkOne(type: CoreType, value: unknown): unknown {
  if (type === 'i64') {
    if (typeof value !== 'bigint') throw wrong('a bigint for an i64')
  } else if (type === 'ref') {
    if (value !== null && typeof value !== 'function') throw wrong('a function or null')
  } else if (typeof value !== 'number') throw wrong(`a number for an ${type}`)
  return value
}

function wrong(wanted: string): CaissonError {
  return new CaissonError('invalid_result', `A host function must return ${wanted}.`)
}
