/** What the guest is told when something about its files does not work. Thrown inside the host, never through a guest. */
import type { WasiFileError } from '../../../src/ports/wasi-files.ts'

export class FileFailure extends Error {
  readonly fileError: WasiFileError

  constructor(fileError: WasiFileError) {
    super(`The file operation failed: ${fileError}.`)
    this.fileError = fileError
  }
}

/** The code for the guest of anything that was thrown; what nobody foresaw is `io`. */
export function fileErrorOf(thrown: unknown): WasiFileError {
  if (thrown instanceof FileFailure) return thrown.fileError
  const { fileError } = Object(thrown) as { fileError?: WasiFileError }
  return typeof fileError === 'string' ? fileError : 'io'
}

/** What `act` gives; undefined where there is nothing of the name. */
export function unlessMissing<T>(act: () => T): T | undefined {
  try {
    return act()
  } catch (error) {
    if (fileErrorOf(error) === 'no-entry') return undefined
    throw error
  }
}
