/** The world of a WASI guest, from what an embedder grants: copies, checked. */
import { CaissonError } from '../../base/errors.ts'
import { clipText } from '../../base/escape-text.ts'
import type { GuestWorld, ModuleDirectory } from '../../component/module/guest-world.ts'
import type { ModuleDirectoryGrant, RunModuleOptions } from './module-options.ts'

/** What is left out is empty, or not there. */
type WorldGrant = Pick<RunModuleOptions, 'args' | 'env' | 'stdin' | 'directories' | 'clock' | 'random'>

/** @throws CaissonError `invalid_argument` */
export function grantedWorld(grant: WorldGrant): GuestWorld {
  const { args = [], env = {}, stdin = '', directories = {}, clock = false, random = false } = grant
  return {
    args: [...args],
    env: { ...env },
    stdin: contentBytes(stdin),
    directories: Object.entries(directories).map(([path, directory]) => grantedDirectory(path, directory)),
    clock,
    random,
  }
}

function grantedDirectory(
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
function contentBytes(content: string | Uint8Array): Uint8Array {
  return typeof content === 'string' ? new TextEncoder().encode(content) : new Uint8Array(content)
}
