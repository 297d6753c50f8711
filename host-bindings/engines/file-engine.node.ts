/**
 * Engines in files, for Node, Bun and Deno.
 *
 * `<folder>/current/` holds the engine of this version; `<folder>/<id>/` may hold earlier ones, which parked
 * guests still need. Each is `manifest.json`, `guest.json`, `v8.wasm` and
 * `portable.wasm`.
 */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { CaissonError } from '../../src/base/errors.ts'
import type { EngineSource, LoadedEngine } from '../../src/ports/engine-source.ts'
import { engineUnavailable } from './static-engine.ts'

interface FileManifest {
  readonly id: string
  /** SHA-256 of `guest.json`. */
  readonly guest: string
  readonly profiles: Readonly<Record<LoadedEngine['profile'], { readonly sha256: string }>>
}

export interface FileEngineOptions {
  /** Holds `current/` and earlier builds; ends with a slash. */
  readonly folder: URL
  /** Of the engine in `current/`: what this version was built with. */
  readonly manifest: FileManifest
  readonly profile: LoadedEngine['profile']
}

/** Ids name folders: nothing else than what a build gives may become part of a path. */
const ID = /^[a-z0-9]+-[0-9a-f]{16}$/

function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** Reads, checks and compiles each engine once, on first use; a failed load is tried again by the next caller. */
export function fileEngine({ folder, manifest, profile }: FileEngineOptions): EngineSource {
  const ids = [manifest.id]
  const loading = new Map<string, Promise<LoadedEngine>>()

  async function load(id: string): Promise<LoadedEngine> {
    if (!ID.test(id)) throw engineUnavailable(id, ids)
    const current = id === manifest.id
    const place = new URL(current ? 'current/' : `${id}/`, folder)
    const file = new URL(`${profile}.wasm`, place)
    let bytes: Uint8Array<ArrayBuffer>
    let guest: Uint8Array
    let own: FileManifest = manifest
    try {
      bytes = await readFile(file)
      guest = await readFile(new URL('guest.json', place))
      if (!current) own = JSON.parse(await readFile(new URL('manifest.json', place), 'utf8')) as FileManifest
    } catch (cause) {
      throw engineUnavailable(id, ids, cause)
    }
    if (
      own.id !== id ||
      digestOf(bytes) !== own.profiles?.[profile]?.sha256 ||
      digestOf(guest) !== own.guest
    ) {
      throw new CaissonError(
        'engine_mismatch',
        `${fileURLToPath(file)} is not the engine that its manifest describes. Install the package again.`,
      )
    }
    return {
      manifest: own,
      module: await WebAssembly.compile(bytes),
      guest: JSON.parse(new TextDecoder().decode(guest)) as unknown,
      profile,
    }
  }

  return {
    ids,
    load: (id) => {
      const found = loading.get(id)
      if (found !== undefined) return found
      const started = load(id)
      loading.set(id, started)
      started.catch(() => loading.delete(id))
      return started
    },
  }
}
