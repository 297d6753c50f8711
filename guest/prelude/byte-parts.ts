/** What the units of byte streams share. */
import type { Algorithm, Chain, Controller, Readable, Reader, ReadRequest, Strategy } from './stream-parts.ts'

/** A part of a buffer that holds bytes. */
export interface Entry {
  readonly buffer: ArrayBuffer
  at: number
  length: number
}

/** A part of a buffer that is to be filled. */
export interface Pull {
  buffer: ArrayBuffer
  readonly bufferLength: number
  readonly at: number
  readonly length: number
  filled: number
  /** How many bytes are enough. */
  readonly least: number
  readonly elementSize: number
  /** Name of the class of the view that the reader gets; undefined for a `DataView`. */
  readonly kind: string | undefined
  /** Who reads: with a buffer of its own, or without; or nobody any more. */
  reader: 'byob' | 'default' | 'none'
}

/** What a controller of bytes has beside what each has. */
export interface Bytes {
  pulls: Chain<Pull>
  readonly autoAllocate: number | undefined
  request: BYOBRequest | undefined
}

/** Behind a `ReadableStreamBYOBRequest`. */
export interface BYOBRequest {
  controller: Controller | undefined
  view: Uint8Array | null
  facade: object
}

/** The unit `byte-streams`. */
export interface ByteStreams {
  /** Makes the controller of a stream of a guest. @returns what the guest's functions get */
  readonly control: (
    stream: Readable,
    strategy: Strategy,
    parts: { readonly autoAllocateChunkSize: unknown; readonly cancel: Algorithm; readonly pull: Algorithm },
  ) => object
  /** A reader with buffers of its own. @throws TypeError for a stream that is locked, or whose chunks are no bytes */
  readonly readerOf: (stream: Readable) => object
  /** What is asked for; undefined if nothing is. */
  readonly requestOf: (controller: Controller) => BYOBRequest | undefined
  /** Says how much was written into what was asked for. */
  readonly respond: (controller: Controller, count: number) => void
  /** The same, in another view of that place. */
  readonly respondWith: (controller: Controller, view: unknown) => void
  /** Reads into a view, of which at least `least` elements are to be filled. */
  readonly readInto: (reader: Reader, view: unknown, least: number, request: ReadRequest) => void
  /** A copy of the bytes of a view, of its own. */
  readonly copyOf: (view: unknown) => Uint8Array
}

/** The unit `byte-tee`. */
export interface ByteTee {
  /** Two streams of the bytes of one, which ask it as they are asked. @throws TypeError if it is locked */
  readonly teeBytes: (stream: Readable) => readonly [object, object]
}
