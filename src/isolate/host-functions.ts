/**
 * The functions that the host lends to the prelude of a guest, by number.
 *
 * Numbers are for ever: they lie in the memory of parked guests. A number is never given to another function.
 */
export const HOST_FUNCTIONS = {
  debug: 1,
  log: 2,
  info: 3,
  warn: 4,
  error: 5,
  random: 6,
  load: 7,
  armTimer: 8,
  report: 9,
  indentLog: 16,
  inspect: 17,
  now: 18,
  timeOrigin: 19,
  clone: 20,
  randomBytes: 21,
  digest: 22,
  encodeText: 23,
  decodeText: 24,
  /** Of the modules that stand for imports of the host (`guest-modules.ts`). */
  importFailed: 48,
} as const

/** Capabilities follow from here, in the order of `MachineStart.capabilities`. */
export const FIRST_CAPABILITY = 64
