/** The Worker's side of `prepare-in-worker.ts`. */
import { CaissonError } from '../../base/errors.ts'
import type { Asyncify } from '../../ports/asyncify.ts'
import { prepareCoreSteps } from './prepare-core.ts'
import type { PrepareMessage, PrepareReply } from './prepare-protocol.ts'

/** Progress is told in steps of this share. */
const STEP = 0.01

export class PrepareHost {
  readonly #post: (reply: PrepareReply, moved: ArrayBuffer[]) => void
  readonly #loadAsyncify: () => Promise<Asyncify>

  /** @param post `moved` are buffers of the reply that are handed over */
  constructor(
    post: (reply: PrepareReply, moved: ArrayBuffer[]) => void,
    loadAsyncify: () => Promise<Asyncify>,
  ) {
    this.#post = post
    this.#loadAsyncify = loadAsyncify
  }

  /** Never rejects: what goes wrong is posted. */
  async receive({ bytes, options }: PrepareMessage): Promise<void> {
    try {
      const isSuspendable = (options.suspends ?? []).length > 0
      const asyncify = isSuspendable ? { asyncify: await this.#loadAsyncify() } : {}
      const steps = prepareCoreSteps(bytes, { ...options, ...asyncify })
      let told = 0
      let step = steps.next()
      for (; step.done !== true; step = steps.next()) {
        if (step.value < told + STEP) continue
        told = step.value
        this.#post({ type: 'progress', done: told }, [])
      }
      const { buffer } = step.value.wasm
      this.#post({ type: 'prepared', prepared: step.value }, buffer instanceof ArrayBuffer ? [buffer] : [])
    } catch (error) {
      const isOurs = CaissonError.is(error)
      const message = error instanceof Error ? error.message : String(error)
      const code = isOurs ? error.code : 'invalid_module'
      const details = isOurs ? error.details : {}
      this.#post({ type: 'error', code, message: message.slice(0, 2_000), details }, [])
    }
  }
}
