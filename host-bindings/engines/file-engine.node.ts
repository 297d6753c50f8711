/** Engines in files, for Node, Bun and Deno: `<directory>/<id>/` or `<directory>/current/`, each with its manifest. */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { CaissonError } from '../../src/base/errors.ts'
import type { EngineSource, LoadedEngine } from '../../src/ports/engine-source.ts'
import { engineUnavailable } from './static-engine.ts'

export interface FileEngineOptions {
  /** The folder of one engine build: `manifest.json`, `v8.wasm`, `portable.wasm`. */
  readonly folder: URL
  readonly manifest: {
    readonly id: string
    readonly profiles: Readonly<Record<LoadedEngine['profile'], { readonly sha256: string }>>
  }
  readonly profile: LoadedEngine['profile']
}

/** Reads, checks and compiles the engine once, on first use. */
export function fileEngine({ folder, manifest, profile }: FileEngineOptions): EngineSource {
  const ids = [manifest.id]
  let loading: Promise<LoadedEngine> | undefined
  const load = async (): Promise<LoadedEngine> => {
    const file = new URL(`${profile}.wasm`, folder)
    let bytes: Uint8Array<ArrayBuffer>
    try {
      bytes = await readFile(file)
    } catch (cause) {
      throw engineUnavailable(manifest.id, ids, cause)
    }
    if (createHash('sha256').update(bytes).digest('hex') !== manifest.profiles[profile].sha256) {
      throw new CaissonError(
        'engine_mismatch',
        `${fileURLToPath(file)} is not the engine that this version was built with. Install the package again.`,
      )
    }
    return { manifest, module: await WebAssembly.compile(bytes), profile }
  }
  return {
    ids,
    load: async (wanted) => {
      if (wanted !== manifest.id) throw engineUnavailable(wanted, ids)
      loading ??= load().catch((error: unknown) => {
        loading = undefined
        throw error
      })
      return loading
    },
  }
}
