/**
 * What the units of streams share: the states that stand behind the objects that guests hold, and what the units do
 * with each other's.
 *
 * No guest ever holds a state. A public object holds its own in a private field, and the units work on states alone,
 * so that nothing that a guest puts on a class or a prototype of streams changes what happens inside. A state has all
 * of its properties from the beginning: one that is missing would be asked of `Object.prototype`.
 *
 * Parsing is what the first use of a unit costs, some thousand units of fuel for each expression and ten times as much
 * for each function. So there are few of either on the way from a stream to its first chunk, and what is not on that
 * way is in a unit of its own.
 */
import type { Chain, Chains } from './chains.ts'
import type { Resolvers } from './primordials.ts'

/** A promise with what settles it. */
export interface Deferred extends Resolvers<unknown> {
  /** Whether it was settled, as far as `settle` and `refuse` did that. */
  isSettled: boolean
}

/** What an algorithm of the standard is: what it does with its arguments, as a promise. */
export type Algorithm = (...args: unknown[]) => Promise<unknown>

/** How a chunk is measured. */
export type Measure = (chunk: unknown) => number

/** What a guest gave as a queuing strategy. */
export interface Strategy {
  readonly mark: number | undefined
  readonly size: Measure | undefined
}

/** An object of a guest that gives what it has by name. */
export type Dictionary = Readonly<Record<string, unknown>>

/** The unit `stream-core`. */
export interface StreamCore extends Chains {
  readonly defer: () => Deferred
  readonly settle: (deferred: Deferred) => void
  /** Rejects one that is not settled, or gives another that is rejected; nobody has to handle it. */
  readonly refuse: (deferred: Deferred, reason: unknown) => Deferred
  /** Settles as a promise does, with nothing for a value. */
  readonly follow: (promise: Promise<unknown>, deferred: Deferred) => void
  /** A promise of what `act` gives or throws. */
  readonly promised: (act: () => unknown) => Promise<unknown>
  /** An algorithm that does nothing. */
  readonly nothing: Algorithm
  /** What a guest gave as a source, sink or transformer, if it did. @throws TypeError for what is no object */
  readonly sourceOf: (given: unknown) => Dictionary
  /** One of its functions, bound to it. @throws TypeError for what is none */
  readonly methodOf: (source: Dictionary, name: string) => ((...args: unknown[]) => unknown) | undefined
  /** The same as a promise; one that is not there does nothing. */
  readonly algorithmOf: (source: Dictionary, name: string) => Algorithm
  /** @throws TypeError for what is no queuing strategy */
  readonly strategyOf: (given: unknown) => Strategy
  /** @throws RangeError for a mark that is negative or no number */
  readonly markOf: (strategy: Strategy, otherwise: number) => number
  /** What only we have: constructors of controllers take nothing else. */
  readonly OURS: object
  /** @throws TypeError unless it is `OURS` */
  readonly requireOurs: (key: unknown) => void
}

/** Who reads a chunk, and what becomes of that. */
export interface ReadRequest {
  /** @param value at the end undefined, or the buffer of the reader in an empty view */
  readonly give: (value: unknown, isDone: boolean) => void
  readonly fail: (reason: unknown) => void
}

/** Behind a `ReadableStream` and its controller. */
export interface Readable {
  state: 'readable' | 'closed' | 'errored'
  error: unknown
  disturbed: boolean
  reader: Reader | undefined
  queue: Chain<unknown>
  readonly mark: number
  started: boolean
  /** Whether it is to close when the queue is empty. */
  closing: boolean
  pulling: boolean
  /** Whether to pull once more when the last pull is over. */
  again: boolean
  pull: Algorithm
  cancel: Algorithm
  /** Undefined where each chunk counts 1. */
  size: Measure | undefined
  /** Whether its chunks are bytes, by its type. */
  readonly isOfBytes: boolean
  /** Where it fills buffers. A stream of ours does when somebody asks it to; one of a guest's from the beginning. */
  bytes: Bytes | undefined
  facade: object
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

/** What a stream that fills buffers has beside what each has. */
export interface Bytes {
  pulls: Chain<Pull>
  /** Size of the buffers for those that read without one. */
  readonly autoAllocate: number | undefined
  request: BYOBRequest | undefined
}

/** Behind a `ReadableStreamBYOBRequest`. */
export interface BYOBRequest {
  /** Undefined when it was answered. */
  stream: Readable | undefined
  view: Uint8Array | null
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

/** The unit `streams`, for those that stand on it. */
export interface Readables {
  /** The state of a `ReadableStream`. @throws TypeError for what is none */
  readonly readableOf: (stream: unknown) => Readable
  /** A state that works by these. */
  readonly stateOf: (
    pull: Algorithm,
    cancel: Algorithm,
    mark: number,
    isOfBytes: boolean,
    size: Measure | undefined,
  ) => Readable
  /** Lets a stream pull when `started` is fulfilled. */
  readonly begin: (stream: Readable, started: unknown) => void
  /** @throws TypeError if it is locked */
  readonly acquire: (stream: Readable, byob?: boolean) => Reader
  /** The stream of a reader. @throws TypeError for one that was released */
  readonly requireStream: (reader: Reader) => Readable
  readonly release: (reader: Reader) => void
  readonly read: (reader: Reader, request: ReadRequest) => void
  readonly cancel: (stream: Readable, reason: unknown) => Promise<unknown>
  /** @throws what the size of the chunk threw, or a TypeError for bytes that are nobody's to give */
  readonly enqueue: (stream: Readable, chunk: unknown) => void
  /** Closes it when its queue is empty. @throws TypeError for bytes that end in the middle of an element */
  readonly close: (stream: Readable) => void
  /** Closes a stream that has nothing left. */
  readonly end: (stream: Readable) => void
  /** Ends it with a reason, if it is readable. */
  readonly fail: (stream: Readable, reason: unknown) => void
  /** Ends what every reader waits for. */
  readonly closeStream: (stream: Readable) => void
  /** Does something with all requests of a reader. */
  readonly answer: (reader: Reader, act: (request: ReadRequest) => void) => void
  /** Drops what it would call: it never will again. */
  readonly stop: (stream: Readable) => void
  /** @throws TypeError for one that is closed, will be, or failed */
  readonly requireOpen: (stream: Readable) => void
  readonly shouldPull: (stream: Readable) => boolean
  readonly pullIfNeeded: (stream: Readable) => void
  /** Null for a stream that failed. */
  readonly desiredSize: (stream: Readable) => number | null
}

/** Behind a `WritableStream` and its controller. */
export interface Writable {
  state: 'writable' | 'erroring' | 'errored' | 'closed'
  error: unknown
  writer: Writer | undefined
  backpressure: boolean
  queue: Chain<unknown>
  readonly mark: number
  started: boolean
  write: Algorithm
  close: Algorithm
  abort: Algorithm
  size: Measure | undefined
  /** Writes that wait, each to be settled when it is done; and the one that is being done. */
  writes: Chain<Deferred>
  written: Deferred | undefined
  /** A close that waits, and one that is being done. */
  toClose: Deferred | undefined
  closing: Deferred | undefined
  toAbort: { readonly done: Deferred; readonly reason: unknown; readonly wasErroring: boolean } | undefined
  /** What `signal` of the controller shows: it is made when a guest asks for it. */
  signal: object | undefined
  aborted: { readonly reason: unknown } | undefined
  facade: object
}

/** Behind a `WritableStreamDefaultWriter`. */
export interface Writer {
  stream: Writable | undefined
  closed: Deferred
  ready: Deferred
}

/** The unit `writable-streams`, for those that stand on it. */
export interface Writables {
  /** The state of a `WritableStream`. @throws TypeError for what is none */
  readonly writableOf: (stream: unknown) => Writable
  /** A stream that works by these; it begins when `start` is fulfilled. */
  readonly createWritable: (
    algorithms: Pick<Writable, 'write' | 'close' | 'abort'>,
    mark: number,
    size: Measure | undefined,
    start: Promise<unknown>,
  ) => Writable
  /** @throws TypeError if it is locked */
  readonly acquireWriter: (stream: Writable) => Writer
  readonly releaseWriter: (writer: Writer) => void
  readonly writeChunk: (writer: Writer, chunk: unknown) => Promise<unknown>
  /** @throws TypeError where it was closed already, or failed */
  readonly closeWritable: (stream: Writable) => Promise<unknown>
  readonly abortWritable: (stream: Writable, reason: unknown) => Promise<unknown>
  /** Ends it with a reason, if it is writable. */
  readonly failWritable: (stream: Writable, reason: unknown) => void
  /** Whether it is being closed, or will be when what waits is written. */
  readonly isClosing: (stream: Writable) => boolean
}
