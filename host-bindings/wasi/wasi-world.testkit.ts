/** Worlds for tests: little is granted, and all of it is the same every time. */
import type { WasiClock, WasiRandom, WasiTurns, WasiWorld } from '../../src/ports/wasi-host.ts'

export function testWorld(given: Partial<WasiWorld> = {}): WasiWorld {
  return {
    args: ['program'],
    env: {},
    stdin: new Uint8Array(0),
    directories: [],
    ...given,
    limits: {
      stdoutBytes: 1_048_576,
      stderrBytes: 1_048_576,
      descriptors: 128,
      resources: 128,
      requestBytes: 65_536,
      ...given.limits,
    },
  }
}

/** A machine that waits for nothing, and remembers why it was told to stop. */
export function testTurns(given: Partial<WasiTurns> = {}): WasiTurns {
  return { wait: () => 'impossible', halt: () => {}, ...given }
}

/** One time for both clocks, from a fixed start. */
export function testClock(): WasiClock {
  let ns = 1_700_000_000_000_000_000n
  const read = (): bigint => {
    ns += 1_000n
    return ns
  }
  return {
    wallNs: read,
    monotonicNs: read,
    position: () => ns,
    moveTo: (to) => {
      ns = to
    },
  }
}

/** Looks random, and is the same every time. */
export function testRandom(): WasiRandom {
  let drawn = 0n
  return {
    bytes: (length) =>
      Uint8Array.from({ length }, () => {
        drawn += 1n
        return Number((drawn * 2_654_435_761n) >> 13n) & 255
      }),
    position: () => drawn,
    moveTo: (to) => {
      drawn = to
    },
  }
}
