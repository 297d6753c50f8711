/** Writes and reads the checkpoints of one runtime's guests: what all of them have in common. */
import { toHex } from '../base/bytes.ts'
import type { Digest } from '../base/digest.ts'
import { CaissonError } from '../base/errors.ts'
import type { BaseImage } from '../isolate/base-image.ts'
import type { CheckpointPorts } from '../ports/checkpoint-ports.ts'
import type {
  CheckpointExpectation,
  CheckpointHeader,
  DecodeOptions,
  EncodedCheckpoint,
} from '../snapshot/container/checkpoint.ts'
import { type CheckpointKeys, checkKeys } from '../snapshot/container/checkpoint-keys.ts'
import { type CheckpointLimits, parseCheckpointLimits } from '../snapshot/container/checkpoint-limits.ts'
import { type DecodedChain, decodeChain } from '../snapshot/container/decode-chain.ts'
import { encodeCheckpoint } from '../snapshot/container/encode-checkpoint.ts'
import { type InspectedCheckpoint, inspectCheckpoint } from '../snapshot/container/inspect-checkpoint.ts'
import type { PageTree } from '../snapshot/page-tree.ts'
import type { EntrySealOptions } from '../snapshot/run-log/entry-seal.ts'
import { decodeGuestState, encodeGuestState, type GuestState } from './guest-state.ts'
import { programKeys } from './program-keys.ts'

const MARK_BYTES = 16

/**
 * When a run is checkpointed: as soon as `calls`, `bytes` or `ms` is reached since the last time, and when it is
 * suspended.
 */
export interface CheckpointPolicy {
  /** Calls answered, and turns taken for timers. Default 16. */
  readonly calls?: number
  /** Bytes of the log. Default 262,144; of the journal of a run of a plan 1,048,576. */
  readonly bytes?: number
  /** Milliseconds. Default 1,000. */
  readonly ms?: number
  /**
   * Checkpoints that are written one against the other before one stands alone again, fewer where they are together as
   * large as that one. Default 16; with 0, each stands alone.
   */
  readonly links?: number
}

/** How checkpoints are protected and bounded. */
export interface CheckpointOptions {
  /** With a `mac` key only checkpoints written with it are taken; with an `encryption` key they are encrypted. */
  readonly keys?: CheckpointKeys
  readonly limits?: Partial<CheckpointLimits>
  /** When runs in a store are checkpointed. */
  readonly every?: CheckpointPolicy & {
    /** Records of the journal of a run of a plan, whose state is then kept beside it. Default 1,000. */
    readonly records?: number
  }
}

/** Whom a checkpoint belongs to. */
export type CheckpointOwner = Pick<CheckpointHeader, 'tenant' | 'run' | 'principal' | 'label'>

/** A guest between two turns. */
export interface GuestImage {
  readonly memoryBytes: number
  readonly pages: PageTree
  readonly state: GuestState
}

/** What the checkpoints of a chain say of pages, in bytes: the last one, which stands alone, and the others. */
export interface ChainWeight {
  readonly alone: number
  readonly links: number
}

/** A checkpoint that another one can be written against. */
export interface WrittenCheckpoint {
  readonly id: Digest
  readonly links: number
  readonly weight: ChainWeight
  readonly pages: PageTree
  readonly state: Uint8Array
}

export interface ReadCheckpoint extends GuestImage {
  readonly header: CheckpointHeader
  readonly chain: readonly Digest[]
  readonly weight: ChainWeight
  /** As it was written: what the next one is written against. */
  readonly stateBytes: Uint8Array
}

export class Checkpoints {
  readonly #ports: CheckpointPorts | undefined
  readonly #options: CheckpointOptions
  readonly #base: Pick<BaseImage, 'pages'>
  readonly #engine: string
  /** Whether what may hold secrets can be written down. */
  readonly #keepsSecrets: boolean
  #decoding: DecodeOptions | undefined

  constructor(
    ports: CheckpointPorts | undefined,
    options: CheckpointOptions,
    engine: string,
    base: Pick<BaseImage, 'pages'>,
    keepsSecrets: boolean = options.keys?.encryption !== undefined,
  ) {
    checkKeys(options.keys ?? {})
    parseCheckpointLimits(options.limits)
    this.#ports = ports
    this.#options = options
    this.#engine = engine
    this.#base = base
    this.#keepsSecrets = keepsSecrets
  }

  /** Whether what was read was written by somebody with the key. */
  get authenticated(): boolean {
    return this.#options.keys?.mac !== undefined
  }

  /** Whether nothing of a run is kept in the clear. */
  get encrypts(): boolean {
    return this.#options.keys?.encryption !== undefined
  }

  /** A name for a capture that no other one has, also not one of a run that had the same name before. */
  nameMark(): string {
    return toHex(this.#decodeOptions().ports.entropy.bytes(MARK_BYTES))
  }

  /** What log entries are sealed with. */
  get sealing(): EntrySealOptions {
    const { ports, keys } = this.#decodeOptions()
    return { ports, ...(keys && { keys }) }
  }

  /** @throws CaissonError `encryption_required` when a secret guest could not be written down */
  checkLabel(label: CheckpointOwner['label']): void {
    if (label === 'plain' || this.#keepsSecrets) return
    throw new CaissonError(
      'encryption_required',
      'The guest may hold secrets, and no key to encrypt what is kept of it is configured (option checkpoints.keys.encryption).',
    )
  }

  /**
   * Of programs of a run that has a key of its own: gone with that key. Where the host has none, it stands beside the run in
   * the clear, and makes no place for secrets.
   */
  under(key: Uint8Array): Checkpoints {
    const { hash } = this.#decodeOptions().ports
    const options = { ...this.#options, keys: programKeys(this.#options.keys, key, hash) }
    return new Checkpoints(this.#ports, options, this.#engine, this.#base, this.#keepsSecrets)
  }

  /** What a checkpoint says of itself: whole, and nothing more is known of it. */
  inspect(bytes: Uint8Array): Promise<InspectedCheckpoint> {
    const { ports, limits } = this.#decodeOptions()
    return inspectCheckpoint(new Uint8Array(bytes), { ports, ...(limits && { limits }) })
  }

  /** Pages of a guest that has not started. */
  get basePages(): PageTree {
    return this.#base.pages
  }

  /**
   * @param sequence grows with every checkpoint of a run
   * @param parent written before; left out, the checkpoint stands alone
   */
  async write(
    image: GuestImage,
    owner: CheckpointOwner,
    sequence: number,
    takenAtMs: number,
    parent?: WrittenCheckpoint,
  ): Promise<EncodedCheckpoint & { readonly written: WrittenCheckpoint }> {
    const { basePages } = this
    const links = parent === undefined ? 0 : parent.links + 1
    const state = encodeGuestState(image.state)
    const options = this.#decodeOptions()
    const encoded = await encodeCheckpoint(
      {
        header: {
          ...owner,
          engine: this.#engine,
          base: basePages.root(options.ports.hash.sha256),
          sequence,
          links,
          takenAtMs,
          memoryBytes: image.memoryBytes,
          ...(parent && { parent: parent.id }),
        },
        state,
        pages: image.pages,
      },
      parent ?? { pages: basePages },
      options,
    )
    const { id, pageBytes } = encoded
    const weight =
      parent === undefined
        ? { alone: pageBytes, links: 0 }
        : { ...parent.weight, links: parent.weight.links + pageBytes }
    return { ...encoded, written: { id, links, weight, pages: image.pages, state } }
  }

  /** @param load gives parents; left out, only a checkpoint that stands alone can be read */
  async read(
    bytes: Uint8Array,
    expect: CheckpointExpectation,
    load: (id: Digest) => Promise<Uint8Array | undefined> = () => Promise.resolve(undefined),
  ): Promise<ReadCheckpoint> {
    const decoded: DecodedChain = await decodeChain(bytes, load, this.basePages, {
      ...this.#decodeOptions(),
      expect: { engine: this.#engine, ...expect },
    })
    const { header, pages, state, chain, pageBytes } = decoded
    return {
      header,
      chain,
      weight: weightOf(pageBytes),
      pages,
      memoryBytes: header.memoryBytes,
      stateBytes: state,
      state: decodeGuestState(state),
    }
  }

  /** The same for all. */
  #decodeOptions(): DecodeOptions {
    this.#decoding ??= this.#newDecodeOptions()
    return this.#decoding
  }

  #newDecodeOptions(): DecodeOptions {
    const ports = this.#ports
    if (ports === undefined) {
      throw new CaissonError('unsupported', 'This platform has no way to write or read checkpoints.')
    }
    const { keys, limits } = this.#options
    return { ports, ...(keys && { keys }), ...(limits && { limits }) }
  }
}

/** @param pageBytes of a chain, newest first */
function weightOf(pageBytes: readonly number[]): ChainWeight {
  const alone = pageBytes.at(-1) ?? 0
  return { alone, links: pageBytes.reduce((sum, bytes) => sum + bytes, -alone) }
}
