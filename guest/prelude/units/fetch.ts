/**
 * `fetch`, over the capability `net.fetch`: what that does not grant is not reached.
 *
 * Invariants
 * 1. What is called is the function that the host installed, whatever a guest did to `net` since.
 * 2. Aborting settles the promise at once. The host goes on with a call that it has: nothing of its answer is seen.
 * 3. Where the host can give bodies as they come in (`net.readBody`), it answers when it has status and headers.
 */

import type { AbortExports } from '../abort-exports.ts'
import { requireArguments } from '../arguments.ts'
import type { Unit } from '../host.ts'
import type { BodyExports } from './body.ts'
import type { HeadersExports } from './headers.ts'
import type { HostBodyExports } from './host-body.ts'
import type { RequestExports } from './request.ts'
import type { Answer, ResponseExports } from './response.ts'

const unit: Unit = ({ netFetch, readBody, use }) => {
  const abort = (): AbortExports => use('abort') as unknown as AbortExports

  /** @throws TypeError with what the host says as its cause */
  async function answered(call: () => unknown, signal?: object): Promise<object> {
    let answer: Answer
    try {
      answer = (await call()) as Answer
    } catch (error) {
      throw new TypeError(`fetch failed: ${(error as Error).message}`, { cause: error })
    }
    const { stream } = answer
    const body =
      typeof stream === 'string'
        ? (use('host-body') as unknown as HostBodyExports).hostBody(stream, signal)
        : undefined
    return (use('response') as unknown as ResponseExports).responseOf(answer, body)
  }

  function abortable(signal: object, call: () => unknown): Promise<object> {
    const { isAborted, onAbort, reasonOf } = abort()
    return new Promise((resolve, reject) => {
      if (isAborted(signal)) {
        reject(reasonOf(signal))
        return
      }
      const callOff = onAbort(signal, () => reject(reasonOf(signal)))
      const settle = async (): Promise<void> => {
        try {
          resolve(await answered(call, signal))
        } catch (error) {
          reject(error)
        }
        callOff()
      }
      void settle()
    })
  }

  return {
    async fetch(input: unknown, init: unknown = undefined): Promise<object> {
      requireArguments(arguments.length, 1, 'fetch')
      const { url, method, headers, redirect, body, signal } = (
        use('request') as unknown as RequestExports
      ).requestParts(input, init)
      const granted = netFetch()
      if (granted === undefined) {
        throw new TypeError('fetch needs the capability net.fetch, which was not granted: grant net.fetch.')
      }
      const pairs = (use('headers') as unknown as HeadersExports).headerPairs(headers)
      const as = readBody() === undefined ? 'bytes' : 'stream'
      const request = { url, method, redirect, as, headers: Object.fromEntries(pairs) }
      // Bodies are sent whole: one that is a stream is read to its end before.
      const sent = body && (use('body') as unknown as BodyExports).readBodyOf(body, (bytes) => bytes)
      const call = async (): Promise<unknown> =>
        granted(sent === null ? request : { ...request, body: await sent })
      return signal === undefined ? answered(call) : abortable(signal, call)
    },
  }
}
export default unit
