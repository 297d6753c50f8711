/**
 * A response body that the host has: read over the capability `net.readBody`, in pieces or whole.
 *
 * Invariants
 * 1. A read says from which byte on it wants the body, so that none is skipped, also where a read is made again.
 * 2. When the signal of its request aborts, reads reject with its reason at once, those at work too, its stream fails,
 *    and the host hears that nothing more is wanted.
 * 3. What the host says of a body that it does not have any more reaches the guest as it is: nothing is cut off.
 */
import type { AbortExports } from '../abort-exports.ts'
import type { Unit } from '../host.ts'
import type { PiecewiseBody } from './body-streams.ts'

/** What `fetch` needs of it. */
export interface HostBodyExports {
  /** @param stream its name, as `net.fetch` gave it */
  readonly hostBody: (stream: string, signal: object | undefined) => PiecewiseBody
}

interface Piece {
  readonly bytes: Uint8Array
  readonly done: boolean
}

const unit: Unit<HostBodyExports & Record<string, unknown>> = ({ readBody, use }) => {
  function hostBody(stream: string, signal: object | undefined): PiecewiseBody {
    let offset = 0
    let isOver = false
    let callOff = (): void => {}
    /** Rejects the read at work, and all that follow. */
    let failed: { readonly reason: unknown } | undefined
    let fail: ((reason: unknown) => void) | undefined
    let failStream: ((reason: unknown) => void) | undefined

    const ask = (want: string): unknown => readBody()?.({ stream, offset, want })

    const end = (): void => {
      isOver = true
      callOff()
    }

    const cancel = (): void => {
      if (isOver) return
      end()
      void closing()
    }

    /** Nobody waits for the host's word that it has closed the body. */
    async function closing(): Promise<void> {
      try {
        await ask('nothing')
      } catch {
        // It is closed, or lost: the same to who wanted nothing more of it.
      }
    }

    async function read(want: string): Promise<Uint8Array> {
      if (failed) throw failed.reason
      let piece: Piece
      try {
        piece = (await ask(want)) as Piece
      } catch (error) {
        end()
        throw new TypeError(`The body could not be read: ${(error as Error).message}`, { cause: error })
      }
      offset += piece.bytes.length
      if (piece.done) end()
      return piece.bytes
    }

    const unlessAborted = (want: string): Promise<Uint8Array> => {
      if (signal === undefined) return read(want)
      return new Promise((resolve, reject) => {
        fail = reject
        const settle = async (): Promise<void> => {
          try {
            resolve(await read(want))
          } catch (error) {
            reject(error)
          }
        }
        void settle()
      })
    }

    if (signal !== undefined) {
      const { isAborted, onAbort, reasonOf } = use('abort') as unknown as AbortExports
      const abort = (): void => {
        failed = { reason: reasonOf(signal) }
        failStream?.(failed.reason)
        fail?.(failed.reason)
        cancel()
      }
      callOff = onAbort(signal, abort)
      if (isAborted(signal)) abort()
    }

    return {
      async next() {
        if (failed) throw failed.reason
        while (!isOver) {
          const bytes = await unlessAborted('chunk')
          if (bytes.length > 0) return bytes
        }
        return undefined
      },
      rest: () => unlessAborted('rest'),
      cancel,
      onFail(act) {
        failStream = act
        if (failed) act(failed.reason)
      },
    }
  }

  return { hostBody }
}
export default unit
