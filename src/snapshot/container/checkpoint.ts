/**
 * What a checkpoint is: the memory of a waiting guest as pages, the rest of its machine as bytes that only the machine
 * understands, and a header that says what they belong to.
 */
import type { Digest } from '../../base/digest.ts'
import type { CheckpointPorts } from '../../ports/checkpoint-ports.ts'
import type { PageTree } from '../page-tree.ts'
import type { CheckpointKeys } from './checkpoint-keys.ts'
import type { CheckpointLimits } from './checkpoint-limits.ts'

/** What a checkpoint says of itself. Texts are at most 4,096 bytes of UTF-8. */
export interface CheckpointHeader {
  /** The engine build that the memory belongs to. */
  readonly engine: string
  /** Root of the pages of that engine's base image. */
  readonly base: Digest
  readonly tenant: string
  readonly run: string
  readonly principal: string
  /** Grows with every checkpoint of a run. */
  readonly sequence: number
  /** The checkpoint that this one is written against; none where it stands alone. */
  readonly parent?: Digest
  /** How many checkpoints it stands on: 0 without a parent, otherwise one more than its parent. */
  readonly links: number
  /** Of what the guest ever saw. A secret one is encrypted, and so is all that stands on it. */
  readonly label: 'plain' | 'secret'
  /** Milliseconds since the Unix epoch. */
  readonly takenAtMs: number
  /** The size of the guest's memory, a multiple of 65,536. */
  readonly memoryBytes: number
  /** Merkle root of the pages. */
  readonly root: Digest
}

export interface Checkpoint {
  readonly header: CheckpointHeader
  /** What the machine has beside its memory. */
  readonly state: Uint8Array
  readonly pages: PageTree
}

/** A checkpoint to be written: its root is computed then. */
export interface NewCheckpoint {
  readonly header: Omit<CheckpointHeader, 'root'>
  readonly state: Uint8Array
  readonly pages: PageTree
}

/** What a checkpoint is written against: its parent, or the base image where it has none. */
export interface CheckpointParent {
  readonly pages: PageTree
  /** Of the parent; left out for the base image. */
  readonly state?: Uint8Array
}

/** What must be so for a checkpoint to be used here. What is left out may be anything. */
export interface CheckpointExpectation {
  readonly id?: Digest
  readonly engine?: string
  readonly base?: Digest
  readonly tenant?: string
  readonly run?: string
  readonly principal?: string
  /** An older checkpoint than this is refused. */
  readonly minSequence?: number
}

export interface EncodeOptions {
  readonly ports: CheckpointPorts
  readonly keys?: CheckpointKeys
  readonly limits?: Partial<CheckpointLimits>
}

export interface DecodeOptions extends EncodeOptions {
  readonly expect?: CheckpointExpectation
}

/** A checkpoint as bytes, and the digest that names them. */
export interface EncodedCheckpoint {
  readonly id: Digest
  readonly bytes: Uint8Array
  /** With its root. */
  readonly header: CheckpointHeader
  /** What it says of its pages, in bytes before they are compressed: about what reading it costs. */
  readonly pageBytes: number
}
