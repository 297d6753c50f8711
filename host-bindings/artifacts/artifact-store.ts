/**
 * Outputs that are kept outside the guest and outside a model's context, addressed by what they contain.
 *
 * 1. An artifact's address is the SHA-256 of its bytes; the same bytes under the same name are one artifact.
 * 2. A stored name is a single, harmless file name (see `artifact-name.ts`).
 * 3. Stored artifacts are never changed: a second name for the same bytes is a second file beside the first.
 * 4. What was put first is stored first, so quotas and the list depend on the order of the calls alone.
 */
import { CaissonError } from '../../src/base/errors.ts'
import {
  aFunction,
  checkOptions,
  type OptionChecks,
  wholeFrom,
  withMethods,
} from '../../src/base/option-checks.ts'
import type { FileTree } from '../files/file-tree.ts'
import { createMemoryFileTree } from '../files/memory-file-tree.ts'
import { artifactName } from './artifact-name.ts'

/** One stored output. */
export interface Artifact {
  /** `sha256:` and 64 hexadecimal digits, of the bytes. */
  readonly digest: string
  /** The file name it is stored under. */
  readonly name: string
  /** For example `text/html`. As the program said; nothing is derived from it. */
  readonly mediaType: string
  readonly bytes: number
  /** Where the host finds it; absent in memory. Never shown to a guest. */
  readonly path?: string
}

/** What a program hands over. */
export interface ArtifactInput {
  readonly name: string
  readonly mediaType: string
  readonly data: Uint8Array
}

/** Keeps artifacts of one run. */
export interface ArtifactStore {
  /** @throws CaissonError `quota_exceeded`, and what the tree throws; then nothing is kept */
  put(input: ArtifactInput): Promise<Artifact>
  /** The bytes. @throws CaissonError `not_found` */
  read(artifact: Pick<Artifact, 'digest' | 'name'>): Promise<Uint8Array>
  /** What this store was given, oldest first, each once. */
  list(): readonly Artifact[]
}

export interface ArtifactStoreOptions {
  /** A writable tree, in memory or real; its quota bounds the bytes. Default: a new one in memory. */
  readonly tree?: FileTree
  /** How many artifacts may be kept. Default 1,000. */
  readonly count?: number
  /** Called after each new artifact is stored, for progress shown to people. */
  readonly onStored?: (artifact: Artifact) => void
}

const OPTIONS: OptionChecks<ArtifactStoreOptions> = {
  tree: withMethods('a writable file tree', 'mkdir', 'write', 'read', 'locate'),
  count: wholeFrom(0),
  onStored: aFunction,
}

/**
 * A store that lays artifacts out as `<64 hex digits>/<name>` in a file tree.
 * @throws CaissonError `invalid_argument` for an impossible option
 */
export function createArtifactStore(options: ArtifactStoreOptions = {}): ArtifactStore {
  checkOptions(options, OPTIONS)
  const { tree = createMemoryFileTree(), count = 1_000, onStored } = options
  const stored = new Map<string, Artifact>()
  let before: Promise<unknown> = Promise.resolve()

  const store = async (hex: string, { name: wanted, mediaType, data }: ArtifactInput): Promise<Artifact> => {
    const name = artifactName(wanted)
    const place = `${hex}/${name}`
    const known = stored.get(place)
    if (known !== undefined) return known
    if (stored.size >= count) {
      throw new CaissonError('quota_exceeded', `At most ${count} artifacts are kept.`, {
        details: { quota: 'count', limit: count },
      })
    }
    await tree.mkdir(hex)
    await tree.write(place, data)
    const path = tree.locate(place)
    const artifact: Artifact = {
      digest: `sha256:${hex}`,
      name,
      mediaType,
      bytes: data.byteLength,
      ...(path !== undefined && { path }),
    }
    stored.set(place, artifact)
    onStored?.(artifact)
    return artifact
  }

  return {
    put(input) {
      const copy = { ...input, data: new Uint8Array(input.data) }
      const digest = sha256Hex(copy.data)
      // One after the other: which of them a quota refuses must not depend on which digest is ready first.
      const put = Promise.all([digest, before]).then(([hex]) => store(hex, copy))
      before = put.catch(() => undefined)
      return put
    },
    read: ({ digest, name }) => tree.read(`${digest.replace('sha256:', '')}/${name}`),
    list: () => [...stored.values()],
  }
}

async function sha256Hex(data: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', data)
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
