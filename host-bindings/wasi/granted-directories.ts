/** The directories that a guest was granted, open from its start to its end. */
import { CaissonError } from '../../src/base/errors.ts'
import type { WasiDirectory, WasiFile, WasiTree } from '../../src/ports/wasi-files.ts'
import type { WasiDirectoryGrant } from '../../src/ports/wasi-host.ts'
import { ListingRoom } from './files/listing-room.ts'
import { readOnlyDirectory, readOnlyFile } from './files/read-only.ts'

export interface GrantedDirectory {
  /** Its place in `WasiWorld.directories`. */
  readonly grant: number
  readonly guestPath: string
  readonly tree: WasiTree
  readonly writable: boolean
  readonly root: WasiDirectory
  /** Of all directories of the guest. */
  readonly listings: ListingRoom
  /** Opens the root anew, where its tree was replaced by that of a checkpoint. */
  reopen(): void
}

/** @throws CaissonError `invalid_argument` for a guest path that is not absolute, or given twice */
export function openGranted(grants: readonly WasiDirectoryGrant[]): readonly GrantedDirectory[] {
  const paths = new Set<string>()
  for (const { guestPath } of grants) {
    if (!guestPath.startsWith('/') || /[\0\p{Surrogate}]/u.test(guestPath) || paths.has(guestPath)) {
      throw new CaissonError(
        'invalid_argument',
        `"${guestPath}" cannot be the place of a granted directory: it takes absolute paths of text, each once.`,
      )
    }
    paths.add(guestPath)
  }
  const listings = new ListingRoom()
  return grants.map(({ guestPath, tree, writable = false }, grant) => {
    const open = (): WasiDirectory => (writable ? tree.open() : readOnlyDirectory(tree.open()))
    let root = open()
    return {
      grant,
      guestPath,
      tree,
      writable,
      listings,
      get root() {
        return root
      },
      reopen: () => {
        root.close()
        root = open()
      },
    }
  })
}

/** What a checkpoint says was open. @throws CaissonError `corrupted` where the tree does not have it */
export function reopenFile(granted: GrantedDirectory, inode: bigint): WasiFile {
  const file = memoryOf(granted).reopenFile(inode)
  return granted.writable ? file : readOnlyFile(file)
}

export function reopenDirectory(granted: GrantedDirectory, inode: bigint): WasiDirectory {
  const directory = memoryOf(granted).reopenDirectory(inode)
  return granted.writable ? directory : readOnlyDirectory(directory)
}

function memoryOf({ tree, guestPath }: GrantedDirectory): NonNullable<WasiTree['memory']> {
  if (tree.memory !== undefined) return tree.memory
  throw new CaissonError(
    'corrupted',
    `The state holds something open in ${guestPath}, which is not in memory.`,
  )
}
