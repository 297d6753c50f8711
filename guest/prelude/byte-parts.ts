/** What the units of byte streams share. */
import type { BYOBRequest, Readable, Reader, ReadRequest } from './stream-parts.ts'

/** A part of a buffer that holds bytes. */
export interface Entry {
  readonly buffer: ArrayBuffer
  at: number
  length: number
}

/** The unit `byte-streams`: what each kind of stream does in its own way, and what tee needs. */
export interface ByteStreams {
  /**
   * Makes a stream of a guest fill buffers. @returns what the guest's functions get
   * @param type what the guest gave as the type of the stream
   */
  readonly control: (stream: Readable, type: unknown, autoAllocateChunkSize: unknown) => object
  /** @throws TypeError for options that are none, and for a stream that is locked or has no such reader */
  readonly getReader: (stream: Readable, options: unknown) => object
  readonly take: (stream: Readable, request: ReadRequest) => void
  readonly enqueue: (stream: Readable, chunk: unknown) => void
  readonly close: (stream: Readable) => void
  readonly release: (stream: Readable) => void
  /** Forgets what is to be filled. */
  readonly forget: (stream: Readable) => void
  /** Closes it, and gives the buffers back to those that wait. */
  readonly finish: (stream: Readable) => void
  /** What is asked for; undefined if nothing is. */
  readonly requestOf: (stream: Readable) => BYOBRequest | undefined
  /** Takes what was written into what was asked for, in another view of that place. */
  readonly respondWith: (stream: Readable, view: unknown) => void
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
