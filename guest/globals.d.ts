/**
 * What a program finds in a guest beside the language (ES2023): printed by `caisson types --dts`.
 *
 * For a tsconfig.json with "lib": ["es2023"] and "types": []. The capabilities that a guest may call follow.
 */

/** What the host gave to the program. */
declare const input: any

interface Console {
  debug(...values: unknown[]): void
  log(...values: unknown[]): void
  info(...values: unknown[]): void
  warn(...values: unknown[]): void
  error(...values: unknown[]): void
  trace(...values: unknown[]): void
  assert(condition?: unknown, ...values: unknown[]): void
  table(data?: unknown, columns?: readonly string[]): void
  dir(value?: unknown): void
  group(...label: unknown[]): void
  groupCollapsed(...label: unknown[]): void
  groupEnd(): void
  count(label?: string): void
  countReset(label?: string): void
  time(label?: string): void
  timeLog(label?: string, ...values: unknown[]): void
  timeEnd(label?: string): void
}
/** Captured by the host, up to a limit. */
declare const console: Console

/** Time is logical: it moves while the guest waits, and by a microsecond with each reading. */
declare function setTimeout<Args extends unknown[]>(
  callback: (...args: Args) => unknown,
  delayMs?: number,
  ...args: Args
): number
declare function setInterval<Args extends unknown[]>(
  callback: (...args: Args) => unknown,
  delayMs?: number,
  ...args: Args
): number
declare function setImmediate<Args extends unknown[]>(
  callback: (...args: Args) => unknown,
  ...args: Args
): number
declare function clearTimeout(id?: number): void
declare function clearInterval(id?: number): void
declare function clearImmediate(id?: number): void
declare function queueMicrotask(callback: () => void): void

/** A copy, with everything that is shared or cyclic. @throws DOMException `DataCloneError` */
declare function structuredClone<T>(value: T, options?: { transfer?: readonly ArrayBuffer[] }): T

/** Base64 of text whose characters are bytes. */
declare function btoa(data: string): string
declare function atob(data: string): string

declare class DOMException extends Error {
  constructor(message?: string, nameOrOptions?: string | { name?: string; cause?: unknown })
  /** A legacy number; names tell more. */
  readonly code: number
}

declare class TextEncoder {
  readonly encoding: 'utf-8'
  encode(text?: string): Uint8Array
  encodeInto(text: string, target: Uint8Array): { read: number; written: number }
}

/** UTF-8, UTF-16LE and windows-1252 (latin1), by any of their labels. */
declare class TextDecoder {
  constructor(label?: string, options?: { fatal?: boolean; ignoreBOM?: boolean })
  readonly encoding: string
  readonly fatal: boolean
  readonly ignoreBOM: boolean
  decode(bytes?: ArrayBuffer | ArrayBufferView, options?: { stream?: boolean }): string
}

/** What comes out of a reader. */
type ReadResult<T> = { done: false; value: T } | { done: true; value: T | undefined }

interface QueuingStrategy<T = any> {
  /** How much may wait, as `size` counts it. */
  highWaterMark?: number
  size?: (chunk: T) => number
}

declare class CountQueuingStrategy implements QueuingStrategy {
  constructor(init: { highWaterMark: number })
  readonly highWaterMark: number
  readonly size: () => number
}

declare class ByteLengthQueuingStrategy implements QueuingStrategy<ArrayBufferView> {
  constructor(init: { highWaterMark: number })
  readonly highWaterMark: number
  readonly size: (chunk: { readonly byteLength: number }) => number
}

interface UnderlyingSource<T> {
  type?: undefined
  start?(controller: ReadableStreamDefaultController<T>): unknown
  pull?(controller: ReadableStreamDefaultController<T>): void | PromiseLike<void>
  cancel?(reason?: any): void | PromiseLike<void>
}

interface UnderlyingByteSource {
  type: 'bytes'
  autoAllocateChunkSize?: number
  start?(controller: ReadableByteStreamController): unknown
  pull?(controller: ReadableByteStreamController): void | PromiseLike<void>
  cancel?(reason?: any): void | PromiseLike<void>
}

interface StreamPipeOptions {
  preventAbort?: boolean
  preventCancel?: boolean
  preventClose?: boolean
  signal?: AbortSignal
}

declare class ReadableStream<R = any> {
  constructor(source?: UnderlyingSource<R>, strategy?: QueuingStrategy<R>)
  constructor(source: UnderlyingByteSource, strategy?: { highWaterMark?: number })
  static from<T>(iterable: AsyncIterable<T> | Iterable<T | PromiseLike<T>>): ReadableStream<T>
  readonly locked: boolean
  cancel(reason?: any): Promise<void>
  getReader(options?: { mode?: undefined }): ReadableStreamDefaultReader<R>
  /** For streams of type `bytes`. */
  getReader(options: { mode: 'byob' }): ReadableStreamBYOBReader
  pipeThrough<T>(
    transform: { readable: ReadableStream<T>; writable: WritableStream<R> },
    options?: StreamPipeOptions,
  ): ReadableStream<T>
  pipeTo(destination: WritableStream<R>, options?: StreamPipeOptions): Promise<void>
  tee(): [ReadableStream<R>, ReadableStream<R>]
  values(options?: { preventCancel?: boolean }): AsyncIterableIterator<R>
  [Symbol.asyncIterator](options?: { preventCancel?: boolean }): AsyncIterableIterator<R>
}

declare class ReadableStreamDefaultReader<R = any> {
  constructor(stream: ReadableStream<R>)
  readonly closed: Promise<void>
  cancel(reason?: any): Promise<void>
  read(): Promise<ReadResult<R>>
  releaseLock(): void
}

declare class ReadableStreamBYOBReader {
  constructor(stream: ReadableStream<Uint8Array>)
  readonly closed: Promise<void>
  cancel(reason?: any): Promise<void>
  /** Fills a view, whose buffer is given away, with at least `min` elements. */
  read<T extends ArrayBufferView>(view: T, options?: { min?: number }): Promise<ReadResult<T>>
  releaseLock(): void
}

declare class ReadableStreamDefaultController<R = any> {
  private constructor()
  readonly desiredSize: number | null
  close(): void
  enqueue(chunk?: R): void
  error(reason?: any): void
}

declare class ReadableByteStreamController {
  private constructor()
  readonly byobRequest: ReadableStreamBYOBRequest | null
  readonly desiredSize: number | null
  close(): void
  enqueue(chunk: ArrayBufferView): void
  error(reason?: any): void
}

declare class ReadableStreamBYOBRequest {
  private constructor()
  readonly view: Uint8Array | null
  respond(bytesWritten: number): void
  respondWithNewView(view: ArrayBufferView): void
}

interface UnderlyingSink<W> {
  start?(controller: WritableStreamDefaultController): unknown
  write?(chunk: W, controller: WritableStreamDefaultController): void | PromiseLike<void>
  close?(): void | PromiseLike<void>
  abort?(reason?: any): void | PromiseLike<void>
}

declare class WritableStream<W = any> {
  constructor(sink?: UnderlyingSink<W>, strategy?: QueuingStrategy<W>)
  readonly locked: boolean
  abort(reason?: any): Promise<void>
  close(): Promise<void>
  getWriter(): WritableStreamDefaultWriter<W>
}

declare class WritableStreamDefaultWriter<W = any> {
  constructor(stream: WritableStream<W>)
  readonly closed: Promise<void>
  readonly desiredSize: number | null
  readonly ready: Promise<void>
  abort(reason?: any): Promise<void>
  close(): Promise<void>
  releaseLock(): void
  write(chunk?: W): Promise<void>
}

declare class WritableStreamDefaultController {
  private constructor()
  readonly signal: AbortSignal
  error(reason?: any): void
}

interface Transformer<I, O> {
  start?(controller: TransformStreamDefaultController<O>): unknown
  transform?(chunk: I, controller: TransformStreamDefaultController<O>): void | PromiseLike<void>
  flush?(controller: TransformStreamDefaultController<O>): void | PromiseLike<void>
  cancel?(reason?: any): void | PromiseLike<void>
}

declare class TransformStream<I = any, O = any> {
  constructor(
    transformer?: Transformer<I, O>,
    writableStrategy?: QueuingStrategy<I>,
    readableStrategy?: QueuingStrategy<O>,
  )
  readonly readable: ReadableStream<O>
  readonly writable: WritableStream<I>
}

declare class TransformStreamDefaultController<O = any> {
  private constructor()
  readonly desiredSize: number | null
  enqueue(chunk?: O): void
  error(reason?: any): void
  terminate(): void
}

declare class TextEncoderStream {
  readonly encoding: 'utf-8'
  readonly readable: ReadableStream<Uint8Array>
  readonly writable: WritableStream<string>
}

declare class TextDecoderStream {
  constructor(label?: string, options?: { fatal?: boolean; ignoreBOM?: boolean })
  readonly encoding: string
  readonly fatal: boolean
  readonly ignoreBOM: boolean
  readonly readable: ReadableStream<string>
  readonly writable: WritableStream<ArrayBuffer | ArrayBufferView>
}

declare class URLSearchParams {
  constructor(init?: string | Record<string, string> | Iterable<readonly [string, string]> | URLSearchParams)
  readonly size: number
  append(name: string, value: string): void
  delete(name: string, value?: string): void
  get(name: string): string | null
  getAll(name: string): string[]
  has(name: string, value?: string): boolean
  set(name: string, value: string): void
  sort(): void
  forEach(callback: (value: string, name: string, parameters: URLSearchParams) => void, self?: unknown): void
  entries(): IterableIterator<[string, string]>
  keys(): IterableIterator<string>
  values(): IterableIterator<string>
  [Symbol.iterator](): IterableIterator<[string, string]>
  toString(): string
}

/** Hosts are ASCII or punycode. */
declare class URL {
  constructor(url: string | URL, base?: string | URL)
  static canParse(url: string | URL, base?: string | URL): boolean
  static parse(url: string | URL, base?: string | URL): URL | null
  hash: string
  host: string
  hostname: string
  href: string
  readonly origin: string
  password: string
  pathname: string
  port: string
  protocol: string
  search: string
  readonly searchParams: URLSearchParams
  username: string
  toString(): string
  toJSON(): string
}

declare class Headers {
  constructor(init?: Headers | Record<string, string> | Iterable<readonly [string, string]>)
  append(name: string, value: string): void
  delete(name: string): void
  get(name: string): string | null
  getSetCookie(): string[]
  has(name: string): boolean
  set(name: string, value: string): void
  forEach(callback: (value: string, name: string, headers: Headers) => void, self?: unknown): void
  entries(): IterableIterator<[string, string]>
  keys(): IterableIterator<string>
  values(): IterableIterator<string>
  [Symbol.iterator](): IterableIterator<[string, string]>
}

type BlobPart = string | Blob | ArrayBuffer | ArrayBufferView

declare class Blob {
  constructor(parts?: Iterable<BlobPart>, options?: { type?: string; endings?: 'transparent' | 'native' })
  readonly size: number
  readonly type: string
  slice(start?: number, end?: number, type?: string): Blob
  /** At most 16 MiB. */
  text(): Promise<string>
  arrayBuffer(): Promise<ArrayBuffer>
  bytes(): Promise<Uint8Array>
  stream(): ReadableStream<Uint8Array>
}

declare class File extends Blob {
  constructor(
    parts: Iterable<BlobPart>,
    name: string,
    options?: { type?: string; endings?: 'transparent' | 'native'; lastModified?: number },
  )
  readonly name: string
  readonly lastModified: number
}

type FormDataEntryValue = string | File

declare class FormData {
  append(name: string, value: string | Blob, fileName?: string): void
  delete(name: string): void
  get(name: string): FormDataEntryValue | null
  getAll(name: string): FormDataEntryValue[]
  has(name: string): boolean
  set(name: string, value: string | Blob, fileName?: string): void
  forEach(callback: (value: FormDataEntryValue, name: string, form: FormData) => void, self?: unknown): void
  entries(): IterableIterator<[string, FormDataEntryValue]>
  keys(): IterableIterator<string>
  values(): IterableIterator<FormDataEntryValue>
  [Symbol.iterator](): IterableIterator<[string, FormDataEntryValue]>
}

type BodyInit =
  | string
  | Blob
  | ArrayBuffer
  | ArrayBufferView
  | FormData
  | URLSearchParams
  | ReadableStream<Uint8Array>
type HeadersInit = Headers | Record<string, string> | Iterable<readonly [string, string]>

interface ResponseInit {
  status?: number
  statusText?: string
  headers?: HeadersInit
}

declare class Response {
  constructor(body?: BodyInit | null, init?: ResponseInit)
  static error(): Response
  static json(data: unknown, init?: ResponseInit): Response
  static redirect(url: string | URL, status?: number): Response
  readonly type: 'basic' | 'default' | 'error'
  readonly url: string
  readonly redirected: boolean
  readonly status: number
  readonly ok: boolean
  readonly statusText: string
  readonly headers: Headers
  /** Of an answer of `fetch`: each chunk is a call of the host. */
  readonly body: ReadableStream<Uint8Array> | null
  readonly bodyUsed: boolean
  clone(): Response
  arrayBuffer(): Promise<ArrayBuffer>
  blob(): Promise<Blob>
  bytes(): Promise<Uint8Array>
  formData(): Promise<FormData>
  json(): Promise<any>
  text(): Promise<string>
}

interface RequestInit {
  method?: string
  headers?: HeadersInit
  body?: BodyInit | null
  redirect?: 'follow' | 'error' | 'manual'
  signal?: AbortSignal | null
  /** Has to be said where the body is a stream. */
  duplex?: 'half'
}

declare class Request {
  constructor(input: string | URL | Request, init?: RequestInit)
  readonly method: string
  readonly url: string
  readonly headers: Headers
  readonly redirect: 'follow' | 'error' | 'manual'
  readonly signal: AbortSignal
  readonly duplex: 'half'
  readonly body: ReadableStream<Uint8Array> | null
  readonly bodyUsed: boolean
  clone(): Request
  arrayBuffer(): Promise<ArrayBuffer>
  blob(): Promise<Blob>
  bytes(): Promise<Uint8Array>
  formData(): Promise<FormData>
  json(): Promise<any>
  text(): Promise<string>
}

/** Over the capability `net.fetch`. @throws TypeError unless that is granted, and for what it does not allow */
declare function fetch(input: string | URL | Request, init?: RequestInit): Promise<Response>

interface EventInit {
  bubbles?: boolean
  cancelable?: boolean
  composed?: boolean
}

declare class Event {
  constructor(type: string, init?: EventInit)
  readonly type: string
  readonly target: EventTarget | null
  readonly currentTarget: EventTarget | null
  readonly bubbles: boolean
  readonly cancelable: boolean
  readonly composed: boolean
  readonly defaultPrevented: boolean
  readonly eventPhase: number
  readonly isTrusted: boolean
  readonly timeStamp: number
  composedPath(): EventTarget[]
  preventDefault(): void
  stopPropagation(): void
  stopImmediatePropagation(): void
}

declare class CustomEvent<T = unknown> extends Event {
  constructor(type: string, init?: EventInit & { detail?: T })
  readonly detail: T
}

type EventListener = ((event: Event) => unknown) | { handleEvent(event: Event): unknown }

declare class EventTarget {
  addEventListener(
    type: string,
    listener: EventListener | null,
    options?: boolean | { capture?: boolean; once?: boolean; passive?: boolean; signal?: AbortSignal },
  ): void
  removeEventListener(
    type: string,
    listener: EventListener | null,
    options?: boolean | { capture?: boolean },
  ): void
  dispatchEvent(event: Event): boolean
}

declare class AbortSignal extends EventTarget {
  private constructor()
  static abort(reason?: unknown): AbortSignal
  static any(signals: Iterable<AbortSignal>): AbortSignal
  /** By logical time. */
  static timeout(ms: number): AbortSignal
  readonly aborted: boolean
  readonly reason: any
  onabort: ((event: Event) => unknown) | null
  throwIfAborted(): void
}

declare class AbortController {
  readonly signal: AbortSignal
  abort(reason?: unknown): void
}

interface Performance {
  /** Milliseconds of logical time since the program began. */
  now(): number
  readonly timeOrigin: number
}
declare const performance: Performance

type IntegerArray =
  | Int8Array
  | Uint8Array
  | Uint8ClampedArray
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | BigInt64Array
  | BigUint64Array

interface SubtleCrypto {
  digest(
    algorithm: string | { readonly name: string },
    data: ArrayBuffer | ArrayBufferView,
  ): Promise<ArrayBuffer>
}

interface Crypto {
  /** Fills up to 65,536 bytes from the guest's recorded stream. */
  getRandomValues<T extends IntegerArray>(array: T): T
  randomUUID(): string
  readonly subtle: SubtleCrypto
}
declare const crypto: Crypto

interface Navigator {
  readonly userAgent: string
}
declare const navigator: Navigator
