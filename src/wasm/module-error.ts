/** How this folder reports modules that it cannot take: always with a code and the byte offset. */
import { CaissonError } from '../base/errors.ts'

/** An `invalid_module` error: the bytes at `offset` contradict the binary format. */
export function invalidModule(message: string, offset: number): CaissonError {
  return new CaissonError('invalid_module', `${message} (at byte ${offset} of the module)`, {
    details: { offset },
  })
}

/**
 * An `unsupported_feature` error: the module may be valid, and uses `feature`, which is not metered.
 *
 * @param functionIndex the function whose body uses it, imports counted; left out outside of code.
 */
export function unsupportedFeature(feature: string, offset: number, functionIndex?: number): CaissonError {
  const where = functionIndex === undefined ? '' : ` in function ${functionIndex}`
  return new CaissonError(
    'unsupported_feature',
    `The module uses ${feature}, which cannot be metered${where} (at byte ${offset} of the module)`,
    {
      details:
        functionIndex === undefined ? { feature, offset } : { feature, function: functionIndex, offset },
    },
  )
}
