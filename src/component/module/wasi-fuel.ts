/**
 * What an import of WASI costs the guest that calls it: the host's work is work of the guest's.
 *
 * The amounts are of the same order as what the host takes for it at 10 million units a millisecond; they need not be
 * exact, since the clock is looked at too (`FuelGauge.hostWorked`), but they decide alike everywhere.
 */
const CALL = 5_000
const PATH = 20_000
/** For each byte that is copied. */
const PER_BYTE = 1
/** For each byte that is made by hashing. */
const PER_RANDOM_BYTE = 60
/** Bytes of a vector: its address and its length. */
const VECTOR = 8
const MOST_VECTORS = 1_024

/** @param args as the guest gave them */
export function wasiFuel(
  name: string,
  args: readonly unknown[],
  memory: WebAssembly.Memory | undefined,
): number {
  if (name === 'random_get') return CALL + length(args[1]) * PER_RANDOM_BYTE
  if (name === 'fd_readdir') return CALL + length(args[2]) * PER_BYTE
  if (/^fd_p?(read|write)$/.test(name)) {
    return CALL + vectorBytes(length(args[1]), length(args[2]), memory) * PER_BYTE
  }
  return name.startsWith('path_') ? PATH : CALL
}

function length(value: unknown): number {
  return Number(value) >>> 0
}

/** What vectors hold, of a guest that may say anything. No more than its memory is ever copied. */
function vectorBytes(at: number, count: number, memory: WebAssembly.Memory | undefined): number {
  if (memory === undefined) return 0
  const { buffer } = memory
  const fit = Math.min(count, MOST_VECTORS, Math.floor(Math.max(0, buffer.byteLength - at) / VECTOR))
  const view = new DataView(buffer)
  let sum = 0
  for (let i = 0; i < fit; i += 1)
    sum += Math.min(view.getUint32(at + i * VECTOR + 4, true), buffer.byteLength)
  return sum
}
