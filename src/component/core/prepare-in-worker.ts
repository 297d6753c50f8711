/**
 * Prepares large modules in a Worker, so that the host goes on meanwhile.
 *
 * 1. Each module gets a Worker of its own, which ends with it: what a hostile module makes of the tools in there is
 *    nobody else's.
 * 2. It ends at the deadline and at an abort, whatever the Worker is doing.
 * 3. The host is never held up: its bytes are copied in pieces, and both ways buffers are handed over, not copied.
 */
import { CaissonError } from '../../base/errors.ts'
import type { WorkerPort } from '../../ports/worker-port.ts'
import type { PreparedCore } from './core-manifest.ts'
import type { PrepareCoreOptions } from './prepare-core.ts'
import type { PrepareReply } from './prepare-protocol.ts'

export interface PrepareInWorkerOptions extends Omit<PrepareCoreOptions, 'asyncify'> {
  /** Starts a Worker that runs `PrepareHost`. */
  readonly openWorker: () => WorkerPort
  /** Told how much is done, from 0 to 1. */
  readonly onProgress?: (done: number) => void
  readonly signal?: AbortSignal
  /** Default two minutes, and ten seconds more for each MiB of the module. */
  readonly timeoutMs?: number
}

/** Some tens of times what it takes on a machine that does nothing else. */
const LEAST_TIMEOUT_MS = 120_000
const TIMEOUT_MS_PER_MIB = 10_000

/**
 * As `prepareCore`, in a Worker.
 *
 * @throws CaissonError as `prepareCore`; `timeout`, `aborted`, `machine_lost` when the Worker died
 */
export async function prepareCoreInWorker(
  bytes: Uint8Array,
  options: PrepareInWorkerOptions,
): Promise<PreparedCore> {
  const { openWorker, onProgress, signal, timeoutMs = timeoutOf(bytes), ...rest } = options
  const isAborted = (): boolean => signal?.aborted === true
  if (isAborted()) throw aborted()
  const copy = await copyInPieces(bytes)
  if (isAborted()) throw aborted()
  const port = openWorker()
  let timer: ReturnType<typeof setTimeout> | undefined
  let onAbort: (() => void) | undefined
  try {
    return await new Promise<PreparedCore>((resolve, reject) => {
      timer = setTimeout(() => reject(late(timeoutMs)), timeoutMs)
      onAbort = () => reject(aborted())
      signal?.addEventListener('abort', onAbort)
      port.listen(
        (message) => {
          const reply = message as PrepareReply
          if (reply.type === 'progress') onProgress?.(reply.done)
          else if (reply.type === 'prepared') resolve(reply.prepared)
          else reject(new CaissonError(reply.code, reply.message, { details: reply.details }))
        },
        (cause) =>
          reject(new CaissonError('machine_lost', 'The Worker that prepared the module died.', { cause })),
      )
      port.post({ type: 'prepare', bytes: copy, options: rest }, [copy.buffer])
    })
  } finally {
    clearTimeout(timer)
    if (onAbort !== undefined) signal?.removeEventListener('abort', onAbort)
    await port.terminate()
  }
}

/** Of a millisecond or less each. */
const PIECE_BYTES: number = 2 * 1024 * 1024

async function copyInPieces(bytes: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  const copy = new Uint8Array(bytes.length)
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    if (at > 0) await new Promise((resolve) => setTimeout(resolve, 0))
    copy.set(bytes.subarray(at, at + PIECE_BYTES), at)
  }
  return copy
}

function timeoutOf({ length }: Uint8Array): number {
  return LEAST_TIMEOUT_MS + Math.ceil(length / 2 ** 20) * TIMEOUT_MS_PER_MIB
}

function late(timeoutMs: number): CaissonError {
  return new CaissonError(
    'timeout',
    `The module was not prepared within ${timeoutMs} ms. Try again where less else is going on, or take a smaller one.`,
  )
}

function aborted(): CaissonError {
  return new CaissonError('aborted', 'The preparation of the module was aborted.')
}
