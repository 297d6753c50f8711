/**
 * Start-up: what a module does before anything of its own run reaches it. It happens in a world that is the same for all
 * runs (time zero, a seed of zeros, no capabilities), so that the state at its end can be kept and be where later
 * runs begin: its image.
 *
 * Invariants
 * 1. Start-up ends at the first call whose answer could differ between two runs with the same arguments, environment
 *    and directories, and that call already gets the answer of its own run. An image is made only where start-up came
 *    to its planned end: the calls of `startUp` returned, or a command reads standard input for the first time.
 * 2. So whether a run begins at an image cannot be told from its output, its fuel or its state.
 */
import type { ModuleProgram } from './module-program.ts'

/** Of `wasi_snapshot_preview1`. */
const SAME_FOR_ALL: ReadonlySet<string> = new Set([
  'args_get',
  'args_sizes_get',
  'clock_res_get',
  'clock_time_get',
  'environ_get',
  'environ_sizes_get',
  'fd_fdstat_get',
  'fd_prestat_dir_name',
  'fd_prestat_get',
  'random_get',
  'sched_yield',
])
/** The same while they ask about standard streams, which are no files and nowhere. */
const SAME_OF_STREAMS: ReadonlySet<string> = new Set(['fd_filestat_get', 'fd_seek', 'fd_tell'])
const LAST_STREAM = 2

export const START_UP_SEED: Uint8Array = new Uint8Array(32)
export const START_UP_MS = 0

export function isSameForAll(name: string, [first]: readonly unknown[]): boolean {
  if (SAME_FOR_ALL.has(name)) return true
  return SAME_OF_STREAMS.has(name) && Number(first) >>> 0 <= LAST_STREAM
}

/** Whether it is a read of standard input. */
export function readsInput(name: string, [first]: readonly unknown[]): boolean {
  return name === 'fd_read' && first === 0
}

/** All that start-up can depend on, beside the module and the cap of its memory. */
export function startUpKey(program: ModuleProgram, stackBytes: number): string {
  const { entry, args, env, directories, clock, random, startUp, missing } = program
  return JSON.stringify([
    typeof entry === 'string' ? entry : null,
    args,
    Object.entries(env),
    directories.map(({ guestPath, writable }) => [guestPath, writable]),
    clock,
    random,
    startUp,
    missing ?? null,
    stackBytes,
  ])
}
