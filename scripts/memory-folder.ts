/**
 * A folder in memory, for what tests write: there a sync takes no time, and they make thousands of them.
 *
 * What outlives a process that is killed is the same there as on a disk. What outlives a power cut is the matter of
 * tests with a disk of their own, which forgets (`test/faults/volatile-disk.ts`).
 */
import { readFileSync, statfsSync } from 'node:fs'

const FOLDER = '/dev/shm'
/** Of room: containers often have a few megabytes there. */
const LEAST_BYTES = 2 * 1024 ** 3

/** Undefined where there is none, or not for this: with too little room, or where nothing can be started from it. */
export function memoryFolder(): string | undefined {
  try {
    const [, , type, options = ''] =
      readFileSync('/proc/mounts', 'utf8')
        .split('\n')
        .map((line) => line.split(' '))
        .findLast(([, place]) => place === FOLDER) ?? []
    if (type !== 'tmpfs' || options.split(',').some((option) => option === 'noexec' || option === 'ro'))
      return
    const { bavail, bsize } = statfsSync(FOLDER)
    return bavail * bsize >= LEAST_BYTES ? FOLDER : undefined
  } catch {
    return undefined // no Linux
  }
}
