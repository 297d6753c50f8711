/** Two streams of the chunks of one. */
import type { ByteTee } from '../byte-parts.ts'
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

const unit: Unit<StreamTee & Record<string, unknown>> = ({ primordials, use }) => {
  const { apply, resolved, after } = primordials
  const { defer } = use('stream-core') as unknown as StreamCore
  const { readables } = use('streams') as unknown as { readables: Readables }
  const { acquire, cancel, createReadable, fail, read } = readables
  const { slice } = Uint8Array.prototype

  function tee(stream: Readable): readonly [object, object] {
    const { bytes } = stream
    const reader = acquire(stream)
    const done = defer()
    let isReading = false
    let again = false

    const pull = (): Promise<unknown> => {
      if (isReading) again = true
      else {
        isReading = true
        read(reader, { chunk: give, close, error: stopReading })
      }
      return resolved()
    }

    const give = (chunk: unknown): void => {
      // A failure that came right after the chunk is to reach the branches first.
      after(resolved(), () => {
        again = false
        const copy = bytes && !other.cancelled ? apply(slice, chunk, []) : chunk
        if (!one.cancelled) one.stream.controller.enqueue(chunk as never)
        if (!other.cancelled) other.stream.controller.enqueue(copy as never)
        isReading = false
        if (again) pull()
      })
    }

    const stopReading = (): void => {
      isReading = false
    }

    const close = (): void => {
      isReading = false
      if (!one.cancelled) one.stream.controller.finish()
      if (!other.cancelled) other.stream.controller.finish()
      finish()
    }

    /** Lets a branch that was cancelled know, where the other one never will be. */
    const finish = (): void => {
      if (!one.cancelled || !other.cancelled) done.resolve()
    }

    const branchOf = (): Branch => {
      const branch: Branch = {
        cancelled: undefined,
        stream: createReadable({
          ...{ pull, mark: bytes ? 0 : 1, bytes, size: undefined, start: undefined },
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
    const one = branchOf()
    const other = branchOf()
    after(reader.closed.promise, undefined, (reason) => {
      fail(one.stream.controller, reason)
      fail(other.stream.controller, reason)
      finish()
    })
    return [one.stream.facade, other.stream.facade]
  }

  return {
    tee: (stream) =>
      stream.controller.bytes ? (use('byte-tee') as unknown as ByteTee).teeBytes(stream) : tee(stream),
  }
}
export default unit
