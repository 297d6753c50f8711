/** `wasi:clocks` and `wasi:random`: logical and seeded, or, where not granted, the end of the guest: they have no errors. */
import type { WasiGrant, WasiInterface } from '../../../src/ports/wasi-host.ts'
import { toDateTime } from './descriptor.ts'
import { Pollable, type Preview2Context } from './pollable.ts'

const RESOLUTION_NS = 1_000n
/** Bytes of randomness in one call. There is no error to say so: a guest that wants more is halted. */
const MAX_RANDOM = 16_777_216n
const RANDOM_CHUNK = 65_536

export function clockInterfaces(context: Preview2Context): Readonly<Record<string, WasiInterface>> {
  const { clock } = context.world
  const denied = denying(context, 'clock')
  const at = (untilNs: bigint): Pollable => new Pollable(context, { kind: 'time', untilNs })
  const now = (): bigint => clock?.monotonicNs() ?? denied('wasi:clocks/monotonic-clock', 0n)
  const isLive = (): boolean => context.end.reason === undefined
  return {
    'wasi:clocks/monotonic-clock': {
      now: () => (isLive() ? now() : 0n),
      resolution: () => RESOLUTION_NS,
      subscribeInstant: (when: bigint) => at(clock === undefined ? now() : when),
      subscribeDuration: (ns: bigint) => at(now() + ns),
    },
    'wasi:clocks/wall-clock': {
      now: () => toDateTime(isLive() ? (clock?.wallNs() ?? denied('wasi:clocks/wall-clock', 0n)) : 0n),
      resolution: () => toDateTime(RESOLUTION_NS),
    },
  }
}

export function randomInterfaces(context: Preview2Context): Readonly<Record<string, WasiInterface>> {
  const { random } = context.world
  const denied = denying(context, 'random')
  const bytes = (id: string, length: bigint): Uint8Array => {
    if (context.end.reason !== undefined) return new Uint8Array(0)
    if (random === undefined) return denied(id, new Uint8Array(0))
    if (length > MAX_RANDOM) {
      context.end.end({ kind: 'limit', limit: 'resources' })
      return new Uint8Array(0)
    }
    const all = new Uint8Array(Number(length))
    for (let at = 0; at < all.length; at += RANDOM_CHUNK) {
      all.set(random.bytes(Math.min(RANDOM_CHUNK, all.length - at)), at)
    }
    return all
  }
  const u64 = (id: string): bigint =>
    bytes(id, 8n).reduce((number, byte) => (number << 8n) | BigInt(byte), 0n)
  return {
    'wasi:random/random': {
      getRandomBytes: (length: bigint) => bytes('wasi:random/random', length),
      getRandomU64: () => u64('wasi:random/random'),
    },
    'wasi:random/insecure': {
      getInsecureRandomBytes: (length: bigint) => bytes('wasi:random/insecure', length),
      getInsecureRandomU64: () => u64('wasi:random/insecure'),
    },
    'wasi:random/insecure-seed': {
      insecureSeed: () => [u64('wasi:random/insecure-seed'), u64('wasi:random/insecure-seed')],
    },
  }
}

/** Halts the guest, for want of an error, and gives it something of the right type to stop with. */
function denying(context: Preview2Context, grant: WasiGrant): <T>(id: string, instead: T) => T {
  return (id, instead) => {
    context.end.end({ kind: 'denied', grant, import: id })
    return instead
  }
}
