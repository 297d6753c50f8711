/** The WASI host and its directories in memory, as a platform gives them to a runtime. */
import { sha256 } from '@noble/hashes/sha2.js'
import { toHex } from '../../src/base/bytes.ts'
import type { WasiSource } from '../../src/ports/wasi-source.ts'
import { createWasiMemoryTree } from './files/memory-tree.ts'
import { openWasiHost } from './wasi-host.ts'

export const wasiSource: WasiSource = {
  openHost: openWasiHost,
  openMemoryTree: (files, nowNs) => {
    // As a base: what the guest leaves alone is neither copied nor written into checkpoints.
    const base = Object.fromEntries(
      Object.entries(files).map(([path, bytes]) => [path, { digest: toHex(sha256(bytes)), bytes }]),
    )
    const tree = createWasiMemoryTree({ base, nowNs })
    return { open: () => tree.open(), memory: tree.memory, changed: () => tree.files({ changed: true }) }
  },
}
