/**
 * The digest of a module's whole state: equal histories give equal digests, on every runtime. Fuel, clock and seed live
 * outside, as for other guests; so do the times of files.
 */
import { type Digest, sha256 } from '../../base/digest.ts'
import type { WasiHost } from '../../ports/wasi-host.ts'
import { encodeCanonical } from '../../values/encode-canonical.ts'
import type { CoreGuest } from '../core/core-guest.ts'

interface DigestedModule {
  readonly engine: string
  /** The Merkle root of its pages. */
  readonly memory: Digest
  readonly guest: CoreGuest
  readonly phase: number
  readonly wasi: Pick<WasiHost, 'stdout' | 'stderr'>
  /** Random bytes that it has drawn. */
  readonly drawn: bigint
  readonly files: Readonly<Record<string, Uint8Array>>
  readonly pending: readonly number[]
}

/** Far more than limits on output let there be. */
const LIMITS = { bytes: 2 ** 32, nodes: 10_000_000, depth: 10 }

export function moduleDigest({
  engine,
  memory,
  guest,
  phase,
  wasi,
  drawn,
  files,
  pending,
}: DigestedModule): Digest {
  const { suspension } = guest
  return sha256(
    encodeCanonical(
      {
        format: 'caisson module state 1',
        engine,
        memory,
        globals: guest.instances.map(({ manifest, exports }) =>
          manifest.globals.map(({ name }) => (exports[name] as WebAssembly.Global).value as number | bigint),
        ),
        phase,
        suspended: suspension && {
          at: suspension.at.name,
          args: [...suspension.args],
          stack: suspension.stack,
        },
        stdout: wasi.stdout.bytes,
        stderr: wasi.stderr.bytes,
        drawn,
        files,
        pending,
      },
      LIMITS,
    ),
  )
}
