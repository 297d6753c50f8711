/**
 * Two streams of the bytes of one. Where a branch is asked for bytes in a buffer, the stream is asked for them in that
 * buffer; the other branch gets a copy.
 */
import type { ByteStreams, ByteTee } from '../byte-parts.ts'
import { readableCreator } from '../create-readable.ts'
import type { Unit } from '../host.ts'
import type { Readable, Readables, Reader, StreamCore } from '../stream-parts.ts'

interface Branch {
  readonly stream: Readable
  cancelled: { readonly reason: unknown } | undefined
  /** Whether it was asked again while the stream was being read. */
  again: boolean
}

const unit: Unit<ByteTee & Record<string, unknown>> = (internals) => {
  const { primordials, use } = internals
  const { after, resolved } = primordials
  const { defer, follow } = use('stream-core') as unknown as StreamCore
  const { readables } = use('streams') as unknown as { readables: Readables }
  const { acquire, cancel, close, enqueue, fail, read, release } = readables
  const createReadable = readableCreator(internals)
  const bytes = use('byte-streams') as unknown as ByteStreams
  const { copyOf, finish: endBytes, readInto, requestOf, respondWith } = bytes

  function teeBytes(stream: Readable): readonly [object, object] {
    const done = defer()
    let reader = acquire(stream)
    let isReading = false

    const followReader = (followed: Reader): void => {
      void after(followed.closed.promise, undefined, (reason) => {
        if (followed !== reader) return
        fail(one.stream, reason)
        fail(other.stream, reason)
        finish()
      })
    }

    const finish = (): void => {
      if (!one.cancelled || !other.cancelled) done.resolve(undefined)
    }

    /** The reader that reads into buffers, or the one that does not. */
    const readerOf = (byob: boolean): Reader => {
      if (reader.byob !== byob) {
        release(reader)
        reader = acquire(stream, byob)
        followReader(reader)
      }
      return reader
    }

    /** Undefined where there is no room for it: then all three streams end. */
    const copied = (bytes: unknown): Uint8Array | undefined => {
      try {
        return copyOf(bytes)
      } catch (error) {
        fail(one.stream, error)
        fail(other.stream, error)
        follow(cancel(stream, error), done)
        return undefined
      }
    }

    const give = ({ cancelled, stream: branch }: Branch, bytes: unknown): void => {
      if (!cancelled) enqueue(branch, bytes)
    }

    const endBranch = ({ cancelled, stream: branch }: Branch): void => {
      if (cancelled) return
      if (branch.bytes) endBytes(branch)
      else close(branch)
    }

    /** When a failure that came right after the bytes has reached the branches. */
    const later = (act: () => void): void => {
      void after(resolved(), () => {
        one.again = other.again = false
        act()
      })
    }

    const pullAgain = (): void => {
      isReading = false
      if (one.again) void pull(one, other)
      else if (other.again) void pull(other, one)
    }

    const pull = (branch: Branch, rest: Branch): Promise<unknown> => {
      if (isReading) {
        branch.again = true
        return resolved()
      }
      isReading = true
      const request = requestOf(branch.stream)
      if (request) pullInto(branch, rest, request.view)
      else pullChunk()
      return resolved()
    }

    const stopReading = (): void => {
      isReading = false
    }

    const pullChunk = (): void =>
      read(readerOf(false), {
        give: (chunk, isEnd) => {
          if (isEnd) {
            isReading = false
            endBranch(one)
            endBranch(other)
            finish()
            return
          }
          later(() => {
            const copy = one.cancelled || other.cancelled ? chunk : copied(chunk)
            if (!copy) return
            give(one, chunk)
            give(other, copy)
            pullAgain()
          })
        },
        fail: stopReading,
      })

    const pullInto = (branch: Branch, rest: Branch, view: unknown): void =>
      readInto(readerOf(true), view, 1, {
        give: (chunk, isEnd) => {
          if (isEnd) {
            isReading = false
            if (!branch.cancelled) close(branch.stream)
            // The buffer goes back to the branch that gave it.
            if (!branch.cancelled && chunk) respondWith(branch.stream, chunk)
            endBranch(rest)
            finish()
            return
          }
          later(() => {
            const copy = rest.cancelled ? chunk : copied(chunk)
            if (!copy) return
            if (!branch.cancelled) respondWith(branch.stream, chunk)
            give(rest, copy)
            pullAgain()
          })
        },
        fail: stopReading,
      })

    const branchOf = (pullBranch: () => Promise<unknown>): Branch => {
      const branch: Branch = {
        cancelled: undefined,
        again: false,
        stream: createReadable(pullBranch, (reason) => cancelBranch(branch, reason), 0, true),
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
    const one: Branch = branchOf(() => pull(one, other))
    const other: Branch = branchOf(() => pull(other, one))
    followReader(reader)
    return [one.stream.facade, other.stream.facade]
  }

  return { teeBytes }
}
export default unit
