/** Directories and contents of a WASI guest, from what an embedder grants: copies, checked. */
import { CaissonError } from '../../base/errors.ts'
import { clipText } from '../../base/escape-text.ts'
import type { ModuleDirectory } from '../../component/module/guest-world.ts'
import type { ModuleDirectoryGrant } from './module-options.ts'

/** @throws CaissonError `invalid_argument` */
export function grantedDirectory(
  guestPath: string,
  { files, open, writable = false }: ModuleDirectoryGrant,
): ModuleDirectory {
  if ((files === undefined) === (open === undefined)) {
    throw new CaissonError(
      'invalid_argument',
      `The directory ${clipText(guestPath, 200)} takes either files or open, and one of them.`,
    )
  }
  return { guestPath, writable, files: files === undefined ? null : copyOfFiles(guestPath, files) }
}

function copyOfFiles(
  path: string,
  files: NonNullable<ModuleDirectoryGrant['files']>,
): Readonly<Record<string, Uint8Array>> {
  const entries = Object.entries(files).map(([name, content]) => {
    if (typeof content === 'string' || content instanceof Uint8Array)
      return [name, contentBytes(content)] as const
    throw new CaissonError(
      'invalid_argument',
      `The file ${clipText(name, 200)} of ${clipText(path, 200)} takes a text or a Uint8Array.`,
    )
  })
  return Object.fromEntries(entries)
}

/** A copy; text as UTF-8. */
export function contentBytes(content: string | Uint8Array): Uint8Array {
  return typeof content === 'string' ? new TextEncoder().encode(content) : new Uint8Array(content)
}
