/** What the shim writes of a file into guest memory. Its own layout puts the times two bytes off, and over each other. */
import { wasi } from '@bjorn3/browser_wasi_shim'
import type { WasiFileKind, WasiFileStat } from '../../../src/ports/wasi-files.ts'
import type { DescriptorRights } from './rights.ts'

const FILE_TYPES: Readonly<Record<WasiFileKind, number>> = {
  file: wasi.FILETYPE_REGULAR_FILE,
  directory: wasi.FILETYPE_DIRECTORY,
  'symbolic-link': wasi.FILETYPE_SYMBOLIC_LINK,
  other: wasi.FILETYPE_UNKNOWN,
}

export function fileTypeOf(kind: WasiFileKind): number {
  return FILE_TYPES[kind]
}

/** `filestat` of the specification: 64 bytes. */
export class FileStatLayout extends wasi.Filestat {
  constructor(stat: WasiFileStat, device: bigint) {
    super(stat.inode, fileTypeOf(stat.kind), stat.bytes)
    this.dev = device
    this.nlink = stat.links
    this.atim = stat.accessedNs
    this.mtim = stat.modifiedNs
    this.ctim = stat.changedNs
  }

  override write_bytes(view: DataView, at: number): void {
    view.setBigUint64(at, this.dev, true)
    view.setBigUint64(at + 8, this.ino, true)
    view.setBigUint64(at + 16, BigInt(this.filetype), true)
    view.setBigUint64(at + 24, this.nlink, true)
    view.setBigUint64(at + 32, this.size, true)
    view.setBigUint64(at + 40, this.atim, true)
    view.setBigUint64(at + 48, this.mtim, true)
    view.setBigUint64(at + 56, this.ctim, true)
  }
}

export function fdStatOf(fileType: number, flags: number, rights: DescriptorRights): wasi.Fdstat {
  const stat = new wasi.Fdstat(fileType, flags)
  stat.fs_rights_base = rights.base
  stat.fs_rights_inherited = rights.inheriting
  return stat
}
