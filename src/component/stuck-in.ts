import { CaissonError } from '../base/errors.ts'
import { clipText } from '../base/escape-text.ts'
import type { SuspendingImport } from './core/core-manifest.ts'

/** What ends a guest that calls, where it cannot wait, what is answered later. */
export function stuckIn({ module, name }: SuspendingImport): CaissonError {
  return new CaissonError(
    'unsupported',
    `The component called "${clipText(`${module}#${name}`, 120)}" where it cannot be suspended: inside of another call, or from a module that was not prepared for it.`,
  )
}
