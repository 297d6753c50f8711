/**
 * How a function of preview 2 fails: glue turns what is thrown into the error case of its `result`. It looks for
 * `payload`, so that errors of its own are told apart from those of the interface.
 */
import type { WasiFileError } from '../../../src/ports/wasi-files.ts'
import { fileErrorOf } from '../files/file-failure.ts'

export class InterfaceError extends Error {
  readonly payload: unknown

  constructor(payload: unknown) {
    super('An interface of WASI answered with an error.')
    this.payload = payload
  }
}

/** Codes that `wasi:filesystem` does not have. */
const RENAMED: Readonly<Partial<Record<WasiFileError, string>>> = {
  'too-many-open': 'quota',
  'not-capable': 'access',
}

export function fileErrorCode(thrown: unknown): string {
  const code = fileErrorOf(thrown)
  return RENAMED[code] ?? code
}

/** What `act` gives; its failure as an `error-code` of `wasi:filesystem/types`. */
export function orErrorCode<T>(act: () => T): T {
  try {
    return act()
  } catch (error) {
    if (error instanceof InterfaceError) throw error
    throw new InterfaceError(fileErrorCode(error))
  }
}
