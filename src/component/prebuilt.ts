/**
 * A component prepared beforehand: metered core modules as files, and a manifest with everything else. For places where
 * modules cannot be compiled (edge workers), and where metering is to be paid once.
 *
 * Invariants
 * 1. Nothing of it is used before its digest was compared: each file with the one in the manifest, the manifest with its own.
 *    A digest protects against what was cut, mixed up or changed by accident; who can replace the whole folder can replace
 *    the manifest too, unless its digest is pinned (`digest`).
 * 2. A `WebAssembly.Module` that the embedder's own bundle carries has no bytes to compare: it is taken as it is.
 */
import { sha256 } from '../base/digest.ts'
import { CaissonError } from '../base/errors.ts'
import type { ComponentAst } from './binary/component-ast.ts'
import { describeComponent } from './component-shape.ts'
import type { CoreManifest } from './core/core-manifest.ts'
import {
  type CompiledCore,
  compile,
  meterComponent,
  type PreparedComponent,
  type PrepareOptions,
} from './prepare-component.ts'

/** Of the shape of manifests, and of how modules are metered. */
const FORMAT = 1

/** Plain JSON. */
export interface PrebuiltManifest {
  readonly format: typeof FORMAT
  /** Of the manifest without this line, as JSON. */
  readonly digest: string
  /** Of the component that it was made of. */
  readonly component: string
  /** What its memories were capped at, in pages of 64 KiB. */
  readonly maxMemoryPages: number
  readonly root: ComponentAst
  readonly cores: readonly {
    readonly file: string
    readonly sha256: string
    readonly manifest: CoreManifest
  }[]
}

export interface PrebuiltComponent {
  readonly manifest: PrebuiltManifest
  /** Bytes of a file of the manifest, or the module that they are. */
  read(file: string): Promise<Uint8Array | WebAssembly.Module> | Uint8Array | WebAssembly.Module
  /** What `manifest.digest` has to be, where it is known from elsewhere. */
  readonly digest?: string
}

/** @throws CaissonError as `meterComponent` */
export async function buildComponent(
  bytes: Uint8Array,
  options: PrepareOptions,
  monotonic: () => number,
): Promise<{ readonly manifest: PrebuiltManifest; readonly files: ReadonlyMap<string, Uint8Array> }> {
  const { parsed, cores } = await meterComponent(bytes, options, monotonic)
  await describeComponent(parsed.root)
  const files = new Map<string, Uint8Array>()
  const listed = cores.map(({ wasm, manifest }, index) => {
    const file = `core-${index}.wasm`
    files.set(file, wasm)
    return { file, sha256: sha256(wasm), manifest }
  })
  const { maxMemoryPages } = options
  const { root } = parsed
  const body = { format: FORMAT, component: sha256(bytes), maxMemoryPages, root, cores: listed } as const
  return { manifest: { ...body, digest: digestOf(body) }, files }
}

/**
 * @param maxMemoryPages what its memories may have here: the cap that it was built with must not be larger
 * @throws CaissonError `corrupted` where a digest differs, `unsupported` for a manifest of another format, `invalid_limit`
 */
export async function loadPrebuilt(
  { manifest, read, digest }: PrebuiltComponent,
  maxMemoryPages: number,
): Promise<PreparedComponent> {
  const { digest: own, ...body } = manifest
  if (manifest.format !== FORMAT) {
    throw new CaissonError('unsupported', 'The component was built by another version: build it again.')
  }
  if (own !== digestOf(body) || (digest !== undefined && digest !== own))
    throw changed('The manifest of the component')
  if (manifest.maxMemoryPages > maxMemoryPages) {
    throw new CaissonError(
      'invalid_limit',
      `The component was built for memories of ${manifest.maxMemoryPages} pages; the limit memoryBytes allows ${maxMemoryPages}.`,
      { details: { limit: 'memoryBytes', needed: manifest.maxMemoryPages * 65_536 } },
    )
  }
  const cores: CompiledCore[] = []
  for (const { file, sha256: expected, manifest: core } of manifest.cores) {
    const given = await read(file)
    if (given instanceof WebAssembly.Module) {
      cores.push({ module: given, manifest: core })
      continue
    }
    // A copy: what is compiled is what was compared.
    const bytes = new Uint8Array(given)
    if (sha256(bytes) !== expected) throw changed(`The file ${file} of the component`)
    cores.push({ module: await compile(bytes), manifest: core })
  }
  const parsed = { root: manifest.root, modules: [] }
  return { parsed, shape: await describeComponent(parsed.root), cores }
}

/** Keys in a fixed order, at the top: what is below keeps its order in JSON. */
function digestOf({
  format,
  component,
  maxMemoryPages,
  root,
  cores,
}: Omit<PrebuiltManifest, 'digest'>): string {
  const text = JSON.stringify([format, component, maxMemoryPages, root, cores])
  return sha256(new TextEncoder().encode(text))
}

function changed(what: string): CaissonError {
  return new CaissonError(
    'corrupted',
    `${what} is not what was built: build it again. Nothing of it was used.`,
  )
}
