/**
 * What the units of streams share: the states that stand behind the objects that guests hold, and what the units do
 * with each other's.
 *
 * No guest ever holds a state. A public object holds its own in a private field, and the units work on states alone,
 * so that nothing that a guest puts on a class or a prototype of streams changes what happens inside.
 */
import type { Bytes } from './byte-parts.ts'

/** A promise with what settles it, which knows whether it was. */
export interface Deferred {
  readonly promise: Promise<unknown>
  readonly isPending: boolean
  readonly resolve: (value?: unknown) => void
  readonly reject: (reason: unknown) => void
}

/** First in, first out, with the sum of the sizes of what is in it. No index of an array is ever written. */
export interface Chain<T> {
  readonly length: number
  /** The sum of the sizes. */
  readonly total: number
  /** The first value. */
  readonly first: T | undefined
  /** @throws RangeError for a size that is negative, infinite or no number */
  readonly push: (value: T, size?: number) => void
  /** Takes the first value out; there is one. */
  readonly shift: () => T
  /** Makes the first value, and the sum, smaller by so much. */
  readonly shrink: (size: number) => void
}

/** What an algorithm of the standard is: what it does with its arguments, as a promise. */
export type Algorithm = (...args: unknown[]) => Promise<unknown>

/** How large a queue may grow, and how its chunks are measured. */
export interface Strategy {
  /** Undefined where none was given. */
  readonly highWaterMark: number | undefined
  /** Undefined where none was given. */
  readonly size: ((chunk: unknown) => number) | undefined
}

/** The unit `stream-core`. */
export interface StreamCore {
  readonly chain: <T>() => Chain<T>
  readonly defer: () => Deferred
  /** Rejects one that is pending, or gives another that is rejected; nobody has to handle it. */
  readonly refuse: (deferred: Deferred, reason: unknown) => Deferred
  /** A promise of what `act` gives or throws. */
  readonly promised: (act: () => unknown) => Promise<unknown>
  /** A queuing strategy that a guest gave. @throws TypeError for what is none */
  readonly strategyOf: (given: unknown) => Strategy
  /** The mark of a strategy. @throws RangeError for one that is negative or no number */
  readonly markOf: (strategy: Strategy, otherwise: number) => number
  /** A dictionary of functions that may be left out. @throws TypeError for what is no object */
  readonly sourceOf: (given: unknown) => Readonly<Record<string, unknown>>
  /** One of its functions, bound to it. @throws TypeError for what is none */
  readonly methodOf: (
    source: Readonly<Record<string, unknown>>,
    name: string,
  ) => ((...args: unknown[]) => unknown) | undefined
  /** The same as a promise; one that is not there does nothing. */
  readonly algorithmOf: (source: Readonly<Record<string, unknown>>, name: string) => Algorithm
  /** Where the constructor of a class is ours alone to call. @throws TypeError unless `key` is `OURS` */
  readonly requireOurs: (key: unknown) => void
  readonly OURS: object
}

/** Who reads a chunk, and what becomes of that. */
export interface ReadRequest {
  readonly chunk: (chunk: unknown) => void
  /** @param chunk of a reader with its own buffer: the buffer, in an empty view */
  readonly close: (chunk?: unknown) => void
  readonly error: (reason: unknown) => void
}

/** Behind a `ReadableStream`. */
export interface Readable {
  state: 'readable' | 'closed' | 'errored'
  error: unknown
  disturbed: boolean
  reader: Reader | undefined
  controller: Controller
  /** Whether its chunks are bytes, by its type. */
  readonly bytes: boolean
  facade: object
}

/** Behind a reader of either kind. */
export interface Reader {
  stream: Readable | undefined
  closed: Deferred
  requests: Chain<ReadRequest>
  /** Whether it reads into buffers of its own. */
  readonly byob: boolean
}

/** Behind a controller of either kind of a readable stream. */
export interface Controller {
  readonly stream: Readable
  queue: Chain<unknown>
  mark: number
  started: boolean
  /** Whether it is to close when the queue is empty. */
  closing: boolean
  pulling: boolean
  /** Whether to pull once more when the last pull is over. */
  again: boolean
  pull: Algorithm
  cancel: Algorithm
  size: (chunk: unknown) => number
  /** Gives a chunk to a request, or keeps the request. */
  take: (request: ReadRequest) => void
  /** What the kind does when its reader lets go. */
  release: () => void
  /** What the kind forgets when the stream is cancelled or fails. */
  forget: () => void
  /** @throws what the size of the chunk threw, or a TypeError for bytes that are nobody's to give */
  enqueue: (chunk: never) => void
  /** @throws TypeError for bytes that end in the middle of an element */
  close: () => void
  /** Closes, and tells those that wait with buffers of their own. */
  finish: () => void
  /** What a controller that fills buffers has beside all that. */
  bytes: Bytes | undefined
}

/** What a controller is made with. All of it is there: what is not would be asked of `Object.prototype`. */
export interface ControllerParts extends Pick<Controller, 'pull' | 'cancel' | 'mark'> {
  /** Undefined where each chunk counts 1. */
  readonly size: Controller['size'] | undefined
}

/** The unit `streams`, for those that stand on it. */
export interface Readables {
  /** The state of a `ReadableStream`. @throws TypeError for what is none */
  readonly readableOf: (stream: unknown) => Readable
  /** A stream that works by these; it begins when `start` is fulfilled. */
  readonly createReadable: (
    parts: ControllerParts & { readonly start: Promise<unknown> | undefined; readonly bytes: boolean },
  ) => Readable
  /** Makes the controller of a stream. */
  readonly createController: (stream: Readable, parts: ControllerParts) => Controller
  /** Lets a controller pull when `started` is fulfilled. */
  readonly begin: (controller: Controller, started: unknown) => void
  /** @throws TypeError if it is locked */
  readonly acquire: (stream: Readable, byob?: boolean) => Reader
  readonly release: (reader: Reader) => void
  readonly read: (reader: Reader, request: ReadRequest) => void
  readonly cancel: (stream: Readable, reason: unknown) => Promise<unknown>
  /** Closes the stream of a controller that has nothing left. */
  readonly end: (controller: Controller) => void
  /** Drops what a controller would call: it never will again. */
  readonly stop: (controller: Controller) => void
  /** Ends the stream with a reason, if it is readable. */
  readonly fail: (controller: Controller, reason: unknown) => void
  readonly canEnqueue: (controller: Controller) => boolean
  readonly shouldPull: (controller: Controller) => boolean
  readonly pullIfNeeded: (controller: Controller) => void
  /** Null for a stream that failed. */
  readonly desiredSize: (controller: Controller) => number | null
  /** @throws TypeError where `canEnqueue` says no */
  readonly requireOpen: (controller: Controller) => void
  /** The stream of a reader. @throws TypeError for one that was released */
  readonly requireStream: (reader: Reader) => Readable
}

/** Behind a `WritableStream`. */
export interface Writable {
  state: 'writable' | 'erroring' | 'errored' | 'closed'
  error: unknown
  writer: Writer | undefined
  controller: WritableController
  backpressure: boolean
  /** Writes that wait, each to be settled when it is done. */
  requests: Chain<Deferred>
  write: Deferred | undefined
  /** A close that waits, and one that is being done. */
  close: Deferred | undefined
  closing: Deferred | undefined
  abort: { readonly done: Deferred; readonly reason: unknown; readonly wasErroring: boolean } | undefined
  facade: object
}

/** Behind a `WritableStreamDefaultWriter`. */
export interface Writer {
  stream: Writable | undefined
  closed: Deferred
  ready: Deferred
}

/** Behind a `WritableStreamDefaultController`. */
export interface WritableController {
  readonly stream: Writable
  queue: Chain<unknown>
  readonly mark: number
  started: boolean
  write: Algorithm
  close: Algorithm
  abort: Algorithm
  size: ((chunk: unknown) => number) | undefined
  /** What `signal` shows: it is made when a guest asks for it. */
  signal: object | undefined
  aborted: { readonly reason: unknown } | undefined
}

/** The unit `writable-streams`, for those that stand on it. */
export interface Writables {
  /** The state of a `WritableStream`. @throws TypeError for what is none */
  readonly writableOf: (stream: unknown) => Writable
  readonly createWritable: (parts: {
    readonly start: Promise<unknown>
    readonly write: Algorithm
    readonly close: Algorithm
    readonly abort: Algorithm
    readonly mark: number
    readonly size: (chunk: unknown) => number
  }) => Writable
  /** @throws TypeError if it is locked */
  readonly acquireWriter: (stream: Writable) => Writer
  readonly releaseWriter: (writer: Writer) => void
  readonly writeChunk: (writer: Writer, chunk: unknown) => Promise<unknown>
  readonly closeWritable: (stream: Writable) => Promise<unknown>
  readonly abortWritable: (stream: Writable, reason: unknown) => Promise<unknown>
  /** Ends it with a reason, if it is writable. */
  readonly failWritable: (controller: WritableController, reason: unknown) => void
  /** Whether it is being closed, or will be when what waits is written. */
  readonly isClosing: (stream: Writable) => boolean
}
