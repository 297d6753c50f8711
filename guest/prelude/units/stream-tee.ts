/** Two streams of the chunks of one. */
import type { ByteStreams, ByteTee } from '../byte-parts.ts'
import { readableCreator } from '../create-readable.ts'
import type { Unit } from '../host.ts'
import type { Readable, Readables, StreamCore } from '../stream-parts.ts'

/** What `streams` needs of it. */
export interface StreamTee {
  /** @throws TypeError if it is locked */
  readonly tee: (stream: Readable) => readonly [object, object]
}

/** One of the two streams, and why it was cancelled, if it was. */
interface Branch {
  readonly stream: Readable
  cancelled: { readonly reason: unknown } | undefined
}

const unit: Unit<StreamTee & Record<string, unknown>> = (internals) => {
  const { primordials, use } = internals
  const { apply, resolved, after } = primordials
  const { defer, follow } = use('stream-core') as unknown as StreamCore
  const { readables } = use('streams') as unknown as { readables: Readables }
  const { acquire, cancel, close, enqueue, fail, read } = readables
  const createReadable = readableCreator(internals)
  const { slice } = Uint8Array.prototype

  function tee(stream: Readable): readonly [object, object] {
    const { isOfBytes: bytes } = stream
    const reader = acquire(stream)
    const done = defer()
    let isReading = false
    let again = false

    const pull = (): Promise<unknown> => {
      if (isReading) again = true
      else {
        isReading = true
        read(reader, { give: (chunk, isEnd) => (isEnd ? end() : give(chunk)), fail: stopReading })
      }
      return resolved()
    }

    const give = (chunk: unknown): void => {
      // A failure that came right after the chunk is to reach the branches first.
      void after(resolved(), () => {
        again = false
        const copy = bytes && !other.cancelled ? apply(slice, chunk, []) : chunk
        if (!one.cancelled) enqueue(one.stream, chunk)
        if (!other.cancelled) enqueue(other.stream, copy)
        isReading = false
        if (again) void pull()
      })
    }

    const stopReading = (): void => {
      isReading = false
    }

    const end = (): void => {
      isReading = false
      endBranch(one)
      endBranch(other)
      finish()
    }

    const endBranch = ({ cancelled, stream: branch }: Branch): void => {
      if (cancelled) return
      if (branch.bytes) (use('byte-streams') as unknown as ByteStreams).finish(branch)
      else close(branch)
    }

    /** Lets a branch that was cancelled know, where the other one never will be. */
    const finish = (): void => {
      if (!one.cancelled || !other.cancelled) done.resolve(undefined)
    }

    const branchOf = (): Branch => {
      const branch: Branch = {
        cancelled: undefined,
        stream: createReadable(pull, (reason) => cancelBranch(branch, reason), bytes ? 0 : 1, bytes),
      }
      return branch
    }

    const cancelBranch = (branch: Branch, reason: unknown): Promise<unknown> => {
      branch.cancelled = { reason }
      if (one.cancelled && other.cancelled) {
        follow(cancel(stream, [one.cancelled.reason, other.cancelled.reason]), done)
      }
      return done.promise
    }
    const one = branchOf()
    const other = branchOf()
    void after(reader.closed.promise, undefined, (reason) => {
      fail(one.stream, reason)
      fail(other.stream, reason)
      finish()
    })
    return [one.stream.facade, other.stream.facade]
  }

  return {
    tee: (stream) => (stream.bytes ? (use('byte-tee') as unknown as ByteTee).teeBytes(stream) : tee(stream)),
  }
}
export default unit
