/**
 * For how long the event loop was not free while something went on.
 *
 * A turn of the loop is taken as often as there can be one. What lies between two of them is counted by the wall, or
 * by the CPU time of the process where that is less: on a busy machine the wall also counts the others' work.
 */

/** Clocks in nanoseconds; replaced in tests. */
export interface BlockClocks {
  readonly wallNs: () => number
  readonly cpuNs: () => number
}

const CLOCKS: BlockClocks = {
  wallNs: () => performance.now() * 1e6,
  cpuNs: () => {
    const { user, system } = process.cpuUsage()
    return (user + system) * 1e3
  },
}

/** How often the CPU clock is read while nothing blocks: reading it takes a while, and memory. */
const CPU_EVERY_NS = 250_000

/** The longest time between two turns of the event loop until `work` has resolved, nanoseconds. */
export async function longestBlock(
  work: () => Promise<unknown>,
  clocks: BlockClocks = CLOCKS,
): Promise<number> {
  let longest = 0
  let wall = clocks.wallNs()
  let cpu = clocks.cpuNs()
  let wallAtCpu = wall
  const look = (): void => {
    const wallNow = clocks.wallNs()
    const gap = wallNow - wall
    wall = wallNow
    if (gap <= longest && wallNow - wallAtCpu < CPU_EVERY_NS) return
    const cpuNow = clocks.cpuNs()
    longest = Math.max(longest, Math.min(gap, cpuNow - cpu))
    cpu = cpuNow
    wallAtCpu = wallNow
    // What was just spent on reading clocks is nobody's block.
    wall = clocks.wallNs()
  }
  let probe: NodeJS.Immediate | undefined
  const again = (): void => {
    look()
    probe = setImmediate(again)
  }
  probe = setImmediate(again)
  try {
    await work()
    look()
  } finally {
    clearImmediate(probe)
  }
  return longest
}
