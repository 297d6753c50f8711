/** The two ways in which preview 1 sets a time: to a value, and to now. Both at once is EINVAL. */
import { wasi } from '@bjorn3/browser_wasi_shim'
import type { WasiFileTimes } from '../../../src/ports/wasi-files.ts'
import { FileFailure } from '../files/file-failure.ts'

/** @throws FileFailure `invalid` */
export function timesOf(
  accessed: bigint,
  modified: bigint,
  which: number,
  nowNs: () => bigint,
): WasiFileTimes {
  const choose = (value: bigint, given: number, now: number): bigint | undefined => {
    const isGiven = (which & given) !== 0
    const isNow = (which & now) !== 0
    if (isGiven && isNow) throw new FileFailure('invalid')
    if (isNow) return nowNs()
    return isGiven ? value : undefined
  }
  return {
    accessedNs: choose(accessed, wasi.FSTFLAGS_ATIM, wasi.FSTFLAGS_ATIM_NOW),
    modifiedNs: choose(modified, wasi.FSTFLAGS_MTIM, wasi.FSTFLAGS_MTIM_NOW),
  }
}
