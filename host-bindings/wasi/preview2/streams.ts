/**
 * `wasi:io/streams` over what this host has: given input, captured output, files, and bodies. All of it is there at
 * once, so that blocking and not blocking are the same, and every pollable of a stream is ready.
 */
import type { WasiFile } from '../../../src/ports/wasi-files.ts'
import type { WasiResourceState } from '../../../src/ports/wasi-host.ts'
import type { CapturedOutput, GivenInput } from '../standard-streams.ts'
import { fileErrorCode, InterfaceError } from './component-error.ts'
import { Pollable, type Preview2Context } from './pollable.ts'
import { Resource, type ResourceTable } from './resource.ts'

/** Bytes that one read gives, and one write takes. */
export const STREAM_CHUNK = 65_536

/** Where an input stream gets its bytes from; its position is in its state. */
export interface ByteSource {
  /** At most `length` bytes; none at the end. */
  read(length: number): Uint8Array
  state(): unknown
  close?(): void
}

/** Where an output stream puts its bytes. */
export interface ByteSink {
  /** Takes all of it, or throws a `fileError`. */
  write(bytes: Uint8Array): void
  state(): unknown
  close?(): void
}

/** `wasi:io/error`. */
export class StreamError extends Resource {
  readonly code: string

  constructor(resources: ResourceTable, code: string) {
    super(resources)
    this.code = code
  }

  toDebugString(): string {
    return this.code
  }

  override state(): Omit<WasiResourceState, 'id'> {
    return { kind: 'error', data: { code: this.code } }
  }
}

abstract class Stream extends Resource {
  protected readonly context: Preview2Context

  constructor(context: Preview2Context) {
    super(context.resources)
    this.context = context
  }

  subscribe(): Pollable {
    return new Pollable(this.context, { kind: 'now' })
  }

  protected failed(thrown: unknown): InterfaceError {
    if (thrown instanceof InterfaceError) return thrown
    const error = new StreamError(this.context.resources, fileErrorCode(thrown))
    return new InterfaceError({ tag: 'last-operation-failed', val: error })
  }
}

export class InputStream extends Stream {
  readonly #source: ByteSource

  constructor(context: Preview2Context, source: ByteSource) {
    super(context)
    this.#source = source
  }

  read(length: bigint): Uint8Array {
    if (length === 0n) return new Uint8Array(0)
    const bytes = this.#take(length)
    if (bytes.length === 0) throw new InterfaceError({ tag: 'closed' })
    return bytes
  }

  blockingRead(length: bigint): Uint8Array {
    return this.read(length)
  }

  skip(length: bigint): bigint {
    return BigInt(this.read(length).length)
  }

  blockingSkip(length: bigint): bigint {
    return this.skip(length)
  }

  override state(): Omit<WasiResourceState, 'id'> {
    return { kind: 'input-stream', data: this.#source.state() }
  }

  protected override release(): void {
    this.#source.close?.()
  }

  #take(length: bigint): Uint8Array {
    try {
      return this.#source.read(length < STREAM_CHUNK ? Number(length) : STREAM_CHUNK)
    } catch (error) {
      throw this.failed(error)
    }
  }
}

export class OutputStream extends Stream {
  readonly #sink: ByteSink

  constructor(context: Preview2Context, sink: ByteSink) {
    super(context)
    this.#sink = sink
  }

  checkWrite(): bigint {
    return BigInt(STREAM_CHUNK)
  }

  write(bytes: Uint8Array): void {
    // What has ended writes nothing more.
    if (this.context.end.reason !== undefined) throw new InterfaceError({ tag: 'closed' })
    try {
      this.#sink.write(bytes)
    } catch (error) {
      throw this.failed(error)
    }
  }

  blockingWriteAndFlush(bytes: Uint8Array): void {
    this.write(bytes)
  }

  flush(): void {}

  blockingFlush(): void {}

  writeZeroes(length: bigint): void {
    // `check-write` allows no more; what asks for more is cut off rather than allocated.
    this.write(new Uint8Array(length < STREAM_CHUNK ? Number(length) : STREAM_CHUNK))
  }

  blockingWriteZeroesAndFlush(length: bigint): void {
    this.writeZeroes(length)
  }

  splice(source: InputStream, length: bigint): bigint {
    const bytes = source.read(length)
    this.write(bytes)
    return BigInt(bytes.length)
  }

  blockingSplice(source: InputStream, length: bigint): bigint {
    return this.splice(source, length)
  }

  override state(): Omit<WasiResourceState, 'id'> {
    return { kind: 'output-stream', data: this.#sink.state() }
  }

  protected override release(): void {
    this.#sink.close?.()
  }
}

export function inputSource(input: GivenInput): ByteSource {
  return { read: (length) => input.read(length), state: () => ({ of: 'stdin' }) }
}

export function outputSink(output: CapturedOutput, of: 'stdout' | 'stderr'): ByteSink {
  return { write: (bytes) => output.write(bytes), state: () => ({ of }) }
}

/** Reads on from `offset`. It closes the file, which is its own. */
export function fileSource(file: WasiFile, grant: number, offset: bigint): ByteSource {
  let at = offset
  return {
    read: (length) => {
      if (at > Number.MAX_SAFE_INTEGER) return new Uint8Array(0)
      const bytes = file.read(Number(at), length)
      at += BigInt(bytes.length)
      return bytes
    },
    state: () => ({ of: 'file', grant, inode: file.stat().inode, offset: at }),
    close: () => file.close(),
  }
}

/** Writes on from `offset`; undefined appends. */
export function fileSink(file: WasiFile, grant: number, offset: bigint | undefined): ByteSink {
  let at = offset
  return {
    write: (bytes) => {
      const end = at ?? file.stat().bytes
      if (end + BigInt(bytes.length) > Number.MAX_SAFE_INTEGER) throw new InterfaceError({ tag: 'closed' })
      file.write(Number(end), bytes)
      if (at !== undefined) at = end + BigInt(bytes.length)
    },
    state: () => ({ of: 'file', grant, inode: file.stat().inode, offset: at ?? null }),
    close: () => file.close(),
  }
}
