/** A runtime for one command: opened, with a Worker where one can be started, and closed again. */
import { openRuntime } from '../../entry/node.ts'
import type { RuntimeOptions } from '../../runtime/options.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import { CliError } from '../cli-error.ts'
import type { CliIo } from '../cli-io.ts'
import { EXIT } from '../exit-code.ts'
import { showProgress } from './progress-line.ts'
import { type KeptWhere, refusalOf } from './refusal.ts'

/** What the runtime allows at least; more where a flag asks for more. */
const MOST_MEMORY = 256 * 1024 * 1024

export interface RuntimeSetting {
  readonly options: RuntimeOptions
  /** That a flag asks for. */
  readonly memoryBytes: number | undefined
  /** Undefined: a Worker if one can be started. */
  readonly thread: 'host' | 'worker' | undefined
  /** Plain text before the elapsed time. */
  readonly progress: string
  /** Undefined for a run that is not kept. */
  readonly kept?: KeptWhere | undefined
}

/** @throws CliError where the runtime refuses */
export async function inRuntime<T>(
  { options, memoryBytes = 0, thread, progress, kept }: RuntimeSetting,
  io: CliIo,
  work: (runtime: Runtime, thread: 'host' | 'worker') => Promise<T>,
): Promise<T> {
  const shown = showProgress(io.stderr, progress)
  const most = Math.max(MOST_MEMORY, memoryBytes)
  const { checkpoints } = options
  try {
    const runtime = await openRuntime({
      ...options,
      telemetry: {
        event: (name, { ms }) => {
          if (name === 'guest.sleeping') shown.sleeps(Number(ms))
        },
      },
      maxMemoryBytes: most,
      ...(checkpoints && {
        checkpoints: { ...checkpoints, limits: { maxMemoryBytes: most, maxFileBytes: most } },
      }),
    })
    try {
      return await work(runtime, await openThread(runtime, thread))
    } finally {
      await runtime.close()
    }
  } catch (error) {
    throw refusalOf(error, kept)
  } finally {
    shown.end()
  }
}

/**
 * Tries whether a Worker can be started, by an empty program, whose Worker the next one gets.
 * @returns where to run: on the host's thread when no Worker can be started and none was asked for
 * @throws CliError where one was asked for
 */
async function openThread(runtime: Runtime, wanted: RuntimeSetting['thread']): Promise<'host' | 'worker'> {
  if (wanted === 'host') return 'host'
  try {
    const outcome = await runtime.run('', { thread: 'worker' })
    if (outcome.status === 'completed') return 'worker'
  } catch {
    // What the Worker could not do, the host's thread may.
  }
  if (wanted === undefined) return 'host'
  throw new CliError({
    exit: EXIT.usage,
    code: 'unsupported',
    message: '--thread worker: no Worker could be started here.',
    hint: 'Use --thread host; caisson doctor says more.',
  })
}
