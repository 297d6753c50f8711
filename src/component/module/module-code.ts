/**
 * A module that is ready to be run: prepared, compiled, named.
 *
 * Its name (the engine id of its machines) says what a guest can observe and nothing else: the original bytes, what
 * they were made suspendable at and by which tool, and the rules of metering. Not the profile, in which counts are
 * equal, and not the cap of its memory, which is a limit.
 */
import { type Digest, sha256 } from '../../base/digest.ts'
import type { CompiledModule } from '../../ports/engine-source.ts'
import type { SamePage } from '../../ports/page-tools.ts'
import { dirtyPages } from '../../snapshot/dirty-pages.ts'
import { PageTree } from '../../snapshot/page-tree.ts'
import { parseModule } from '../../wasm/binary.ts'
import { METER_NAMESPACE } from '../../wasm/meter-options.ts'
import type { CompiledCore } from '../core/core-guest.ts'
import type { CoreManifest, PreparedCore, SuspendingImport } from '../core/core-manifest.ts'
import { importedConstants } from '../core/imported-constants.ts'
import { linkCore } from '../core/link-core.ts'
import { CALLS_NAMESPACE } from './module-calls.ts'
import { createModuleImages, type ModuleImages } from './module-image.ts'
import { WASI_NAMESPACE } from './module-imports.ts'

/** Raised when the same module is charged otherwise, or its guests' state has another form. */
const RULES = 1

export interface ModuleCode {
  readonly engine: string
  readonly core: CompiledCore
  /** Of a guest that was instantiated and not started. */
  readonly basePages: () => PageTree
  /** Of its start-up, for the guests of one domain. */
  readonly images: (domain: string) => ModuleImages
}

/** Imports at which a module can be suspended: where it sleeps, and where it calls what is not WASI's. */
export function suspendingImports(bytes: Uint8Array): readonly SuspendingImport[] {
  const seen = new Set<string>()
  return parseModule(bytes).imports.flatMap(({ module, name, desc }) => {
    const key = `${module}\n${name}`
    if (desc.kind !== 'function' || seen.has(key) || !maySuspend(module, name)) return []
    seen.add(key)
    return [{ module, name }]
  })
}

function maySuspend(module: string, name: string): boolean {
  if (/[,*\s]|^@/.test(`${module}.${name}`)) return false
  return module === WASI_NAMESPACE ? name === 'poll_oneoff' : module !== CALLS_NAMESPACE
}

/**
 * @param original the digest of the bytes that were prepared
 * @param unwinds where it was made suspendable in these functions alone
 */
export function moduleEngine(
  original: Digest,
  { suspends }: CoreManifest,
  asyncify: string | undefined,
  unwinds?: readonly number[],
): string {
  const at = suspends.map(({ module, name }) => `${module}.${name}`)
  const made =
    at.length === 0 ? '' : [asyncify, ...at, ...(unwinds === undefined ? [] : [unwinds.join(' ')])].join('\n')
  return `module:${sha256(new TextEncoder().encode(`${RULES}\n${original}\n${made}`)).slice('sha256:'.length)}`
}

export function moduleCode(
  engine: string,
  { manifest }: Pick<PreparedCore, 'manifest'>,
  module: CompiledModule,
  samePage: SamePage,
): ModuleCode {
  const core = { module, manifest }
  let pages: PageTree | undefined
  return {
    engine,
    core,
    images: createModuleImages(),
    basePages: () => {
      pages ??= readBase(core, samePage)
      return pages
    },
  }
}

/** No code of the module runs: its start function is not one any more. */
function readBase({ module, manifest }: CompiledCore, samePage: SamePage): PageTree {
  if (manifest.memory === null) return PageTree.empty
  const imports: Record<string, Record<string, WebAssembly.ImportValue>> = {
    [METER_NAMESPACE]: { refill: () => -1n },
  }
  for (const { module: from, name, kind } of manifest.imports) {
    if (kind !== 'function') continue
    imports[from] ??= Object.create(null) as Record<string, WebAssembly.ImportValue>
    imports[from][name] = () => 0
  }
  const { exports } = linkCore(module, { ...imports, ...importedConstants(manifest, imports) })
  const bytes = new Uint8Array((exports[manifest.memory.name] as WebAssembly.Memory).buffer)
  return PageTree.empty.with(dirtyPages(bytes, PageTree.empty, [{ start: 0, end: bytes.length }], samePage))
}
