/** `artifacts.*`: how a program hands over its results: files for people, not for its own memory. */
import { checkOptions, type OptionChecks, wholeFrom, withMethods } from '../../src/base/option-checks.ts'
import type { Capability } from '../../src/capability/capability.ts'
import { defineBinding } from '../define-binding.ts'
import { either, list, object } from '../schema/composites.ts'
import { binary, integer, text } from '../schema/scalars.ts'
import { type Artifact, type ArtifactStore, createArtifactStore } from './artifact-store.ts'

export interface ArtifactOptions {
  /** Default: a new store in memory. */
  readonly store?: ArtifactStore
  /** Largest artifact in bytes. Default 8 MiB, which is also what a file tree takes unless told otherwise. */
  readonly maxBytes?: number
}

const OPTIONS: OptionChecks<ArtifactOptions> = {
  store: withMethods('an artifact store, as createArtifactStore gives', 'put', 'read', 'list'),
  maxBytes: wholeFrom(0, 1024 * 1024 * 1024),
}
const MAX_LISTED = 1_000
const artifact = object({
  digest: text({ maxLength: 71, description: '"sha256:" and 64 hexadecimal digits, of the bytes.' }),
  name: text({ maxLength: 200, description: 'The file name it was stored under.' }),
  mediaType: text({ maxLength: 100 }),
  bytes: integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
})

/**
 * The capabilities `artifacts.write` and `artifacts.list`.
 * @throws CaissonError `invalid_argument` for an impossible option
 */
export function createArtifactCapabilities(options: ArtifactOptions = {}): readonly Capability[] {
  checkOptions(options, OPTIONS)
  const { store = createArtifactStore(), maxBytes = 8 * 1024 * 1024 } = options
  return [
    defineBinding({
      name: 'artifacts.write',
      description:
        'Hands over a finished file for people to open: `await artifacts.write({ name: "report.html", mediaType: "text/html", data: html })`. Gives its `digest` and the `name` it was stored under. The same data again is the same artifact.',
      effect: 'write',
      idempotent: true,
      timeoutMs: 30_000,
      input: object({
        name: text({ minLength: 1, maxLength: 200, description: 'A file name with extension.' }),
        mediaType: text({ minLength: 3, maxLength: 100, description: 'For example "text/html".' }),
        data: either(text({ maxLength: maxBytes }), binary({ maxBytes })),
      }),
      output: artifact,
      expose: ['quota_exceeded'],
      invoke: async ({ name, mediaType, data }) => {
        const bytes = typeof data === 'string' ? new TextEncoder().encode(data) : data
        return withoutPath(await store.put({ name, mediaType, data: bytes }))
      },
    }),
    defineBinding({
      name: 'artifacts.list',
      description:
        'What was handed over so far, oldest first: `[{ digest, name, mediaType, bytes }]`. The newest 1,000.',
      effect: 'read',
      timeoutMs: 10_000,
      input: object({}),
      output: list(artifact, { maxItems: MAX_LISTED }),
      invoke: () => store.list().slice(-MAX_LISTED).map(withoutPath),
    }),
  ]
}

/** What a guest may know: not where the host keeps it. */
function withoutPath({ digest, name, mediaType, bytes }: Artifact): Omit<Artifact, 'path'> {
  return { digest, name, mediaType, bytes }
}
