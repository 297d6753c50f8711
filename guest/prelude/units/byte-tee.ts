/**
 * Two streams of the bytes of one. Where a branch is asked for bytes in a buffer, the stream is asked for them in that
 * buffer; the other branch gets a copy.
 */
import type { ByteStreams, ByteTee } from '../byte-parts.ts'
import type { Unit } from '../host.ts'
import type { Readable, Readables, Reader, StreamCore } from '../stream-parts.ts'

interface Branch {
  readonly stream: Readable
  cancelled: { readonly reason: unknown } | undefined
  /** Whether it was asked again while the stream was being read. */
  again: boolean
}

const unit: Unit<ByteTee & Record<string, unknown>> = ({ primordials, use }) => {
  const { after, resolved } = primordials
  const { defer } = use('stream-core') as unknown as StreamCore
  const { readables } = use('streams') as unknown as { readables: Readables }
  const { acquire, cancel, createReadable, fail, read, release } = readables
  const { copyOf, readInto, requestOf, respondWith } = use('byte-streams') as unknown as ByteStreams

  function teeBytes(stream: Readable): readonly [object, object] {
    const done = defer()
    let reader = acquire(stream)
    let isReading = false

    const followReader = (followed: Reader): void => {
      after(followed.closed.promise, undefined, (reason) => {
        if (followed !== reader) return
        fail(one.stream.controller, reason)
        fail(other.stream.controller, reason)
        finish()
      })
    }

    const finish = (): void => {
      if (!one.cancelled || !other.cancelled) done.resolve()
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
        fail(one.stream.controller, error)
        fail(other.stream.controller, error)
        done.resolve(cancel(stream, error))
        return undefined
      }
    }

    const give = ({ cancelled, stream: { controller } }: Branch, bytes: unknown): void => {
      if (!cancelled) controller.enqueue(bytes as never)
    }

    /** When a failure that came right after the bytes has reached the branches. */
    const later = (act: () => void): void => {
      after(resolved(), () => {
        one.again = other.again = false
        act()
      })
    }

    const pullAgain = (): void => {
      isReading = false
      if (one.again) pull(one, other)
      else if (other.again) pull(other, one)
    }

    const pull = (branch: Branch, rest: Branch): Promise<unknown> => {
      if (isReading) {
        branch.again = true
        return resolved()
      }
      isReading = true
      const request = requestOf(branch.stream.controller)
      if (request) pullInto(branch, rest, request.view)
      else pullChunk()
      return resolved()
    }

    const stopReading = (): void => {
      isReading = false
    }

    const pullChunk = (): void =>
      read(readerOf(false), {
        chunk: (chunk) =>
          later(() => {
            const copy = one.cancelled || other.cancelled ? chunk : copied(chunk)
            if (!copy) return
            give(one, chunk)
            give(other, copy)
            pullAgain()
          }),
        close: () => {
          isReading = false
          if (!one.cancelled) one.stream.controller.finish()
          if (!other.cancelled) other.stream.controller.finish()
          finish()
        },
        error: stopReading,
      })

    const pullInto = (branch: Branch, rest: Branch, view: unknown): void => {
      const { controller } = branch.stream
      readInto(readerOf(true), view, 1, {
        chunk: (chunk) =>
          later(() => {
            const copy = rest.cancelled ? chunk : copied(chunk)
            if (!copy) return
            if (!branch.cancelled) respondWith(controller, chunk)
            give(rest, copy)
            pullAgain()
          }),
        close: (chunk) => {
          isReading = false
          if (!branch.cancelled) controller.close()
          // The buffer goes back to the branch that gave it.
          if (!branch.cancelled && chunk) respondWith(controller, chunk)
          if (!rest.cancelled) rest.stream.controller.finish()
          finish()
        },
        error: stopReading,
      })
    }

    const branchOf = (pullBranch: () => Promise<unknown>): Branch => {
      const branch: Branch = {
        cancelled: undefined,
        again: false,
        stream: createReadable({
          ...{ pull: pullBranch, mark: 0, bytes: true, size: undefined, start: undefined },
          cancel: (reason) => {
            branch.cancelled = { reason }
            if (one.cancelled && other.cancelled) {
              done.resolve(cancel(stream, [one.cancelled.reason, other.cancelled.reason]))
            }
            return done.promise
          },
        }),
      }
      return branch
    }
    const one: Branch = branchOf(() => pull(one, other))
    const other: Branch = branchOf(() => pull(other, one))
    followReader(reader)
    return [one.stream.facade, other.stream.facade]
  }

  return { teeBytes }
}
export default unit
