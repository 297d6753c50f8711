/**
 * A component prepared beforehand: metered core modules as files, and a manifest with everything else. For places where
 * modules cannot be compiled (edge workers), and where metering is to be paid once.
 *
 * Invariants
 * 1. Nothing of it is used before its digest was compared: each file with the one in the manifest, the manifest with its own.
 *    A digest protects against what was cut, mixed up or changed by accident; who can replace the whole folder can replace
 *    the manifest too, unless its digest is pinned (`digest`).
 * 2. A `WebAssembly.Module` that the embedder's own bundle carries has no bytes to compare. It carries a stamp, which is
 *    compared: what is of another build, or was never metered, is refused. That its code is what was stamped is for the
 *    bundle to keep.
 */
import { sha256 } from '../base/digest.ts'
import { CaissonError } from '../base/errors.ts'
import { isLoweredConstant } from '../wasm/lower-constants.ts'
import { checkWaits } from './check-waits.ts'
import { describeComponent } from './component-shape.ts'
import type { SuspendingImport } from './core/core-manifest.ts'
import type { PrebuiltComponent, PrebuiltCore, PrebuiltManifest } from './prebuilt-manifest.ts'
import {
  type CompiledCore,
  compile,
  meterComponent,
  type PreparedComponent,
  type PrepareOptions,
} from './prepare-component.ts'
import { unwindProblem } from './unwinding.ts'

const FORMAT = 2
/** Custom section with the stamp of a core module. */
const STAMP_SECTION = 'caisson.build'

/**
 * @param options `waits` makes guests wait in its imports, wherever they are opened
 * @throws CaissonError as `meterComponent`; `unsupported` where it cannot wait as wanted
 */
export async function buildComponent(
  bytes: Uint8Array,
  options: PrepareOptions,
  monotonic: () => number,
): Promise<{ readonly manifest: PrebuiltManifest; readonly files: ReadonlyMap<string, Uint8Array> }> {
  const { parsed, cores } = await meterComponent(bytes, options, monotonic)
  const shape = await describeComponent(parsed.root)
  const { waits, maxMemoryPages } = options
  if (waits !== undefined) {
    checkWaits({ shape, cores }, waits)
    const problem = await unwindProblem({ parsed, cores })
    if (problem !== undefined)
      throw new CaissonError(
        problem.code,
        `${problem.message} Built without, runComponent executes it again where it waits, and openComponent holds its stack (suspension: "jspi").`,
        { details: problem.details },
      )
  }
  const files = new Map<string, Uint8Array>()
  const listed = cores.map(({ wasm, manifest }, index) => {
    const file = `core-${index}.wasm`
    const stamp = sha256(wasm)
    const stamped = withStamp(wasm, stamp)
    files.set(file, stamped)
    return { file, sha256: sha256(stamped), stamp, manifest }
  })
  const body = {
    format: FORMAT,
    component: sha256(bytes),
    maxMemoryPages,
    suspendedBy: listed.some(({ manifest }) => manifest.suspends.length > 0) ? (waits?.tool ?? null) : null,
    root: parsed.root,
    cores: listed,
  } as const
  return { manifest: { ...body, digest: digestOf(body) }, files }
}

/**
 * @param maxMemoryPages what its memories may have here: the cap that it was built with must not be larger
 * @throws CaissonError `corrupted` where a digest differs, `unsupported` for a manifest of another format, `invalid_limit`
 */
export async function loadPrebuilt(
  source: PrebuiltComponent,
  maxMemoryPages: number,
): Promise<PreparedComponent> {
  checkManifest(source)
  const { manifest, read } = source
  if (manifest.maxMemoryPages > maxMemoryPages) {
    throw new CaissonError(
      'invalid_limit',
      `The component was built for memories of ${manifest.maxMemoryPages} pages; the limit memoryBytes allows ${maxMemoryPages}.`,
      { details: { limit: 'memoryBytes', needed: manifest.maxMemoryPages * 65_536 } },
    )
  }
  const cores: CompiledCore[] = []
  for (const core of manifest.cores) {
    cores.push({ module: await moduleOf(core, await read(core.file)), manifest: core.manifest })
  }
  const parsed = { root: manifest.root, modules: [] }
  const shape = await describeComponent(parsed.root).catch((error: unknown) => {
    throw CaissonError.is(error) ? error : changed('The manifest of the component')
  })
  return { parsed, shape, cores }
}

/** Before anything of it is used. @throws CaissonError `corrupted`, `unsupported` */
function checkManifest({ manifest, digest }: PrebuiltComponent): void {
  const { digest: own, ...body } = manifest
  if (manifest.format !== FORMAT) {
    throw new CaissonError('unsupported', 'The component was built by another version: build it again.')
  }
  const isBuilt = whole(() => isWhole(manifest) && own === digestOf(body))
  if (isBuilt !== true || (digest !== undefined && digest !== own))
    throw changed('The manifest of the component')
}

/** What is read of it before a definition is looked at. Its digest says that it was not changed, and not by whom. */
function isWhole({ component, maxMemoryPages, root, cores }: PrebuiltManifest): boolean {
  return (
    typeof component === 'string' &&
    Number.isSafeInteger(maxMemoryPages) &&
    Array.isArray(root.definitions) &&
    cores.every(
      ({ file, manifest: { imports, exports, globals, suspends, captureObstacles, constants } }) =>
        typeof file === 'string' &&
        [imports, exports, globals, suspends, captureObstacles, constants].every(Array.isArray) &&
        constants.every(isLoweredConstant),
    )
  )
}

/** Undefined for data of another shape than what is read of it. @throws CaissonError what `read` throws of these */
function whole<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (CaissonError.is(error)) throw error
    return undefined
  }
}

/** Where it was made to wait. @throws CaissonError `corrupted`, `unsupported` */
export function suspendedAt(source: PrebuiltComponent): readonly SuspendingImport[] {
  checkManifest(source)
  return source.manifest.cores.flatMap(({ manifest }) => manifest.suspends)
}

async function moduleOf(
  { file, sha256: expected, stamp }: PrebuiltCore,
  given: Uint8Array | WebAssembly.Module,
): Promise<WebAssembly.Module> {
  if (given instanceof WebAssembly.Module) {
    const stamps = WebAssembly.Module.customSections(given, STAMP_SECTION)
    const [found] = stamps.map((section) => new TextDecoder().decode(section))
    if (stamps.length !== 1 || found !== stamp) throw changed(`The module ${file} of the component`)
    return given
  }
  if (!(given instanceof Uint8Array)) {
    throw new CaissonError(
      'invalid_argument',
      `What reads the files of a component gave neither bytes (Uint8Array) nor a WebAssembly.Module for ${file}.`,
    )
  }
  // A copy: what is compiled is what was compared.
  const bytes = new Uint8Array(given)
  if (sha256(bytes) !== expected) throw changed(`The file ${file} of the component`)
  return compile(bytes)
}

function withStamp(wasm: Uint8Array, stamp: string): Uint8Array {
  const name = new TextEncoder().encode(STAMP_SECTION)
  const text = new TextEncoder().encode(stamp)
  // Both lengths are below 128, which is one byte in LEB128.
  const header = [0, 1 + name.length + text.length, name.length]
  const stamped = new Uint8Array(wasm.length + header.length + name.length + text.length)
  stamped.set(wasm)
  stamped.set(header, wasm.length)
  stamped.set(name, wasm.length + header.length)
  stamped.set(text, stamped.length - text.length)
  return stamped
}

/** Keys in a fixed order, at the top: what is below keeps its order in JSON. */
function digestOf({
  format,
  component,
  maxMemoryPages,
  suspendedBy,
  root,
  cores,
}: Omit<PrebuiltManifest, 'digest'>): string {
  const text = JSON.stringify([format, component, maxMemoryPages, suspendedBy, root, cores])
  return sha256(new TextEncoder().encode(text))
}

function changed(what: string): CaissonError {
  return new CaissonError(
    'corrupted',
    `${what} is not what was built: build it again. Nothing of it was used.`,
  )
}
