/** Which functions of WASI there are for a guest, found without running one. */
import { DISPOSE } from '../../base/disposal.ts'
import { type ComponentImports, hostInterfaces } from '../../component/component-imports.ts'
import type { InspectedGuest } from '../../component/inspect-guest.ts'
import { WASI_NAMESPACE } from '../../component/module/module-imports.ts'
import type { WasiTurns } from '../../ports/wasi-host.ts'
import type { WasiSource } from '../../ports/wasi-source.ts'

export interface WasiNames {
  readonly preview1: Readonly<Record<string, unknown>>
  readonly preview2: Pick<ComponentImports, 'func'>
}

/** Of a world in which nobody ever is. */
const LIMITS = { stdoutBytes: 0, stderrBytes: 0, descriptors: 4, resources: 0, requestBytes: 0 }
const WORLD = { args: [], env: {}, stdin: new Uint8Array(0), directories: [], limits: LIMITS }
const TURNS: WasiTurns = { wait: () => 'impossible', halt: () => {} }

/** @param source left out: whatever the guest imports of WASI is there */
export function wasiNames(source: WasiSource | undefined, guest: InspectedGuest): WasiNames {
  if (source === undefined) return allOf(guest)
  const wanted = guest.form === 'component' ? guest.shape.imports.map((one) => one.interface) : []
  const ids = [...new Set(wanted)].filter((id) => id.startsWith('wasi:'))
  const host = source.openHost(WORLD, TURNS)
  try {
    return { preview1: host.preview1(), preview2: hostInterfaces(host.preview2(ids)) }
  } finally {
    host[DISPOSE]()
  }
}

function allOf({ cores }: InspectedGuest): WasiNames {
  const preview1: Record<string, unknown> = Object.create(null)
  for (const { imports } of cores)
    for (const { module, name } of imports) if (module === WASI_NAMESPACE) preview1[name] = true
  return {
    preview1,
    preview2: { func: (from) => (from.startsWith('wasi:') ? () => undefined : undefined) },
  }
}
