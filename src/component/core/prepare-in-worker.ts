/**
 * Prepares large modules in a Worker, so that the host goes on meanwhile.
 *
 * 1. Each module gets a Worker of its own, which ends with it: what a hostile module makes of the tools in there is
 *    nobody else's.
 * 2. It ends at the deadline and at an abort, whatever the Worker is doing.
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
  /** Default two minutes. */
  readonly timeoutMs?: number
}

const DEFAULT_TIMEOUT_MS = 120_000

/**
 * As `prepareCore`, in a Worker.
 *
 * @throws CaissonError as `prepareCore`; `timeout`, `aborted`, `machine_lost` when the Worker died
 */
export async function prepareCoreInWorker(
  bytes: Uint8Array,
  options: PrepareInWorkerOptions,
): Promise<PreparedCore> {
  const { openWorker, onProgress, signal, timeoutMs = DEFAULT_TIMEOUT_MS, ...rest } = options
  if (signal?.aborted === true) throw aborted()
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
      port.post({ type: 'prepare', bytes, options: rest })
    })
  } finally {
    clearTimeout(timer)
    if (onAbort !== undefined) signal?.removeEventListener('abort', onAbort)
    await port.terminate()
  }
}

function late(timeoutMs: number): CaissonError {
  return new CaissonError(
    'timeout',
    `The module was not prepared within ${timeoutMs} ms; allow more, or take a smaller one.`,
  )
}

function aborted(): CaissonError {
  return new CaissonError('aborted', 'The preparation of the module was aborted.')
}
