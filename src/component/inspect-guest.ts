/**
 * What the bytes of a guest are, and what it imports and exports: found without running anything of it, for whoever has to
 * decide about it before.
 */
import type { CaissonError } from '../base/errors.ts'
import { readComponent } from './binary/read-component.ts'
import { type ComponentShape, describeComponent } from './component-shape.ts'
import { inspectBinary } from './core/inspect-binary.ts'
import { type InspectedCore, inspectCore } from './core/inspect-core.ts'

export interface InspectedModule {
  readonly form: 'module'
  readonly bytes: number
  readonly core: InspectedCore
  readonly cores: readonly [InspectedCore]
  readonly refusals: readonly CaissonError[]
}

export interface InspectedComponent {
  readonly form: 'component'
  readonly bytes: number
  readonly shape: ComponentShape
  readonly cores: readonly InspectedCore[]
  readonly refusals: readonly CaissonError[]
}

export type InspectedGuest = InspectedModule | InspectedComponent

/** Milliseconds of work after which the host's loop gets a turn. */
const PIECE_MS = 8

/**
 * @param bytes which nobody changes meanwhile
 * @param monotonic milliseconds, never going back
 * @throws CaissonError `invalid_module`, `invalid_component`, `unsupported_feature` for what cannot be read
 */
export async function inspectGuest(bytes: Uint8Array, monotonic: () => number): Promise<InspectedGuest> {
  const pause = pauses(monotonic)
  if (inspectBinary(bytes).kind === 'module') {
    const core = await inspectCore(bytes, pause)
    return { form: 'module', bytes: bytes.length, core, cores: [core], refusals: core.refusals }
  }
  const { root, modules } = readComponent(bytes)
  await pause()
  const shape = await describeComponent(root)
  const cores: InspectedCore[] = []
  for (const module of modules) cores.push(await inspectCore(module, pause))
  const refusals = cores.flatMap((core) => core.refusals)
  return { form: 'component', bytes: bytes.length, shape, cores, refusals }
}

/** Gives the host's loop a turn where work took so long since the last one. */
export function pauses(monotonic: () => number): () => Promise<void> {
  let since = monotonic()
  return async () => {
    if (monotonic() - since < PIECE_MS) return
    await new Promise((resolve) => setTimeout(resolve, 0))
    since = monotonic()
  }
}
