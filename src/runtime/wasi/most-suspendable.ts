/** Bytes of a module that is made suspendable without being asked for: beyond, that takes longer than most wait. */
export const MOST_SUSPENDABLE: number = 4 * 1024 * 1024
