/** An engine that a page fetches, checks and compiles. */
import { sha256 } from '../../src/base/digest.ts'
import { CaissonError } from '../../src/base/errors.ts'
import type { EngineSource, LoadedEngine } from '../../src/ports/engine-source.ts'
import { engineUnavailable } from './static-engine.ts'

export interface UrlEngineOptions {
  /** Where the module is: same origin, or with CORS. */
  readonly url: string | URL
  readonly manifest: {
    readonly id: string
    readonly profiles: Readonly<Record<LoadedEngine['profile'], { readonly sha256: string }>>
  }
  /** The sources of the engine's guests. */
  readonly guest: unknown
  readonly profile: LoadedEngine['profile']
}

/** Loads the engine once, on first use; a failed load is tried again by the next caller. */
export function urlEngine({ url, manifest, guest, profile }: UrlEngineOptions): EngineSource {
  const ids = [manifest.id]
  let loading: Promise<LoadedEngine> | undefined

  async function load(): Promise<LoadedEngine> {
    const bytes = await fetchModule(url)
    // A stale file of another version would run under the wrong id, so streaming compilation is given up.
    if (sha256(bytes) !== `sha256:${manifest.profiles[profile].sha256}`) {
      throw new CaissonError(
        'engine_mismatch',
        `${show(url)} is not the engine that this version was built with. Deploy the engine and the code together.`,
      )
    }
    return { manifest, module: await WebAssembly.compile(bytes), guest, profile }
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

/** @throws CaissonError `engine_unavailable`, with what was there instead */
async function fetchModule(url: string | URL): Promise<Uint8Array<ArrayBuffer>> {
  let problem: string
  let cause: unknown
  try {
    const response = await fetch(url)
    const bytes = new Uint8Array(await response.arrayBuffer())
    // Servers of single-page applications answer 200 with the page itself, as if all were well.
    if (response.ok && startsAsModule(bytes)) return bytes
    const type = response.headers.get('content-type') ?? 'something else'
    problem = response.ok ? `there is ${type}, and no WebAssembly` : `the server answers ${response.status}`
  } catch (error) {
    problem = 'it cannot be fetched'
    cause = error
  }
  throw new CaissonError(
    'engine_unavailable',
    `The engine is not at ${show(url)}: ${problem}. Serve the file of the package there, or say with engineFromUrl where it is.`,
    { details: { url: show(url) }, cause },
  )
}

function startsAsModule(bytes: Uint8Array): boolean {
  return [0x00, 0x61, 0x73, 0x6d].every((byte, i) => bytes[i] === byte)
}

/** Short enough for a message: the URL may hold the engine itself. */
function show(url: string | URL): string {
  return String(url).slice(0, 200)
}
