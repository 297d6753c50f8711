/**
 * Piping of the Streams standard: `pipeTo` and `pipeThrough`.
 *
 * Invariants
 * 1. Nothing of it can be observed: it asks the states of both streams, and no public object.
 * 2. A chunk that was read is written, also when the pipe is being shut down meanwhile.
 */
import type { AbortExports } from '../abort-exports.ts'
import { dictionary } from '../arguments.ts'
import type { Unit } from '../host.ts'
import type { Readable, Readables, StreamCore, Writable, Writables } from '../stream-parts.ts'

/** What `streams` needs of it. */
export interface StreamPipes {
  /** @throws TypeError for a destination that is none, and for options that are none */
  readonly pipeTo: (source: Readable, destination: unknown, options: unknown) => Promise<unknown>
  readonly pipeThrough: (source: Readable, transform: unknown, options: unknown) => unknown
}

interface PipeOptions {
  readonly preventAbort: boolean
  readonly preventCancel: boolean
  readonly preventClose: boolean
  readonly signal: unknown
}

const unit: Unit<StreamPipes & Record<string, unknown>> = ({ primordials, use }) => {
  const { resolved, after } = primordials
  const { defer } = use('stream-core') as unknown as StreamCore
  const { readables } = use('streams') as unknown as { readables: Readables }
  const { writables } = use('writable-streams') as unknown as { writables: Writables }
  const { acquire, cancel, read, readableOf, release } = readables
  const { abortWritable, acquireWriter, closeWritable, isClosing, releaseWriter, writableOf, writeChunk } =
    writables
  const abort = (): AbortExports => use('abort') as unknown as AbortExports

  function optionsOf(given: unknown): PipeOptions {
    const options = dictionary(given, 'Piping')
    const { preventAbort, preventCancel, preventClose, signal } = options
    if (signal !== undefined) abort().isAborted(signal)
    return {
      preventAbort: Boolean(preventAbort),
      preventCancel: Boolean(preventCancel),
      preventClose: Boolean(preventClose),
      signal,
    }
  }

  function requireUnlocked(source: Readable, target: Writable): void {
    if (source.reader) throw new TypeError('The stream is locked: it has a reader already.')
    if (target.writer) throw new TypeError('The destination is locked: it has a writer already.')
  }

  function pipe(source: Readable, target: Writable, options: PipeOptions): Promise<unknown> {
    const { preventAbort, preventCancel, preventClose, signal } = options
    const reader = acquire(source)
    const writer = acquireWriter(target)
    const done = defer()
    source.disturbed = true
    let isEnding = false
    let callOff = (): void => {}
    let written: Promise<unknown> = resolved()

    const abortTarget = (reason: unknown) => (): Promise<unknown> => abortWritable(target, reason)
    const cancelSource = (reason: unknown) => (): Promise<unknown> => cancel(source, reason)

    const finish = (failure?: { readonly reason: unknown }): void => {
      releaseWriter(writer)
      release(reader)
      callOff()
      if (failure) done.reject(failure.reason)
      else done.resolve(undefined)
    }

    /** Ends the pipe when what was read is written: first by an action, then for good. */
    const end = (action?: () => Promise<unknown>, failure?: { readonly reason: unknown }): void => {
      if (isEnding) return
      isEnding = true
      const act = (): void => {
        if (!action) finish(failure)
        else
          void after(
            action(),
            () => finish(failure),
            (reason) => finish({ reason }),
          )
      }
      const settle = (): void => {
        const last = written
        void after(last, () => (last === written ? act() : settle()))
      }
      if (target.state === 'writable' && !isClosing(target)) settle()
      else act()
    }

    const abortBoth = (): void => {
      const reason = abort().reasonOf(signal)
      end(
        () => {
          const aborted = preventAbort || target.state !== 'writable' ? resolved() : abortTarget(reason)()
          const cancelled = preventCancel || source.state !== 'readable' ? resolved() : cancelSource(reason)()
          return both(aborted, cancelled)
        },
        { reason },
      )
    }

    const write = (chunk: unknown): void => {
      written = after(writeChunk(writer, chunk), nothing, nothing)
      step()
    }

    const step = (): void => {
      if (isEnding) return
      void after(
        writer.ready.promise,
        () => {
          if (isEnding) return
          let isAtOnce = true
          read(reader, {
            give: (chunk, isEnd) => {
              if (isEnd) return
              // Who enqueues a chunk is not to be called by the sink before that is done.
              if (isAtOnce) write(chunk)
              else written = after(resolved(), () => write(chunk))
            },
            fail: nothing,
          })
          isAtOnce = false
        },
        nothing,
      )
    }

    if (signal !== undefined) {
      if (abort().isAborted(signal)) {
        abortBoth()
        return done.promise
      }
      callOff = abort().onAbort(signal, abortBoth)
    }
    whenSettled(source.state === 'errored', reader.closed.promise, undefined, () => {
      const reason = source.error
      end(preventAbort ? undefined : abortTarget(reason), { reason })
    })
    whenSettled(target.state === 'errored', writer.closed.promise, undefined, () => {
      const reason = target.error
      end(preventCancel ? undefined : cancelSource(reason), { reason })
    })
    whenSettled(
      source.state === 'closed',
      reader.closed.promise,
      () => end(preventClose ? undefined : () => closeAfter(target)),
      undefined,
    )
    if (isClosing(target) || target.state === 'closed') {
      const reason = new TypeError('The destination is closed, or will be.')
      end(preventCancel ? undefined : cancelSource(reason), { reason })
    }
    step()
    return done.promise
  }

  /** Acts at once, or when a promise is settled that way. */
  function whenSettled(
    isSettled: boolean,
    promise: Promise<unknown>,
    onFulfilled: (() => void) | undefined,
    onRejected: (() => void) | undefined,
  ): void {
    if (isSettled) (onFulfilled ?? onRejected)?.()
    else void after(promise, onFulfilled ?? nothing, onRejected ?? nothing)
  }

  /** Closes the destination, unless it is closed already; fails as it did. */
  function closeAfter(target: Writable): Promise<unknown> {
    if (isClosing(target) || target.state === 'closed') return resolved()
    return target.state === 'errored' ? primordials.rejected(target.error) : closeWritable(target)
  }

  /** Fulfilled when both are, rejected when one is. */
  function both(one: Promise<unknown>, other: Promise<unknown>): Promise<unknown> {
    const done = defer()
    let left = 2
    const count = (): void => {
      left -= 1
      if (left === 0) done.resolve(undefined)
    }
    const refuse = (reason: unknown): void => done.reject(reason)
    void after(one, count, refuse)
    void after(other, count, refuse)
    return done.promise
  }

  return {
    pipeTo: (source, destination, given) => {
      const target = writableOf(destination)
      const options = optionsOf(given)
      requireUnlocked(source, target)
      return pipe(source, target, options)
    },
    pipeThrough: (source, transform, given) => {
      const sides = dictionary(transform, 'ReadableStream.pipeThrough')
      const { readable } = sides
      readableOf(readable)
      const target = writableOf(sides.writable)
      const options = optionsOf(given)
      requireUnlocked(source, target)
      void after(pipe(source, target, options), undefined, nothing)
      return readable
    },
  }
}
export default unit

const nothing = (): void => {}
