/** Ctrl-C: the first asks the program to stop; before there is a program, it ends the command. */
import { CliError } from '../cli-error.ts'
import type { CliIo } from '../cli-io.ts'
import type { GivenFlags } from '../command.ts'
import { EXIT } from '../exit-code.ts'

export class Interruption {
  readonly #controller = new AbortController()

  /** Aborted at the first interrupt. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  interrupt(): void {
    this.#controller.abort()
  }

  /**
   * `work`, unless an interrupt comes first.
   * @throws CliError interrupted
   */
  async during<T>(work: Promise<T>): Promise<T> {
    let stop: (() => void) | undefined
    const interrupted = new Promise<never>((_, reject) => {
      stop = () => reject(new CliError({ exit: EXIT.interrupted, code: 'aborted', message: 'Interrupted.' }))
      this.signal.addEventListener('abort', stop, { once: true })
    })
    try {
      return await Promise.race([work, interrupted])
    } finally {
      if (stop) this.signal.removeEventListener('abort', stop)
    }
  }
}

/** Does `work` under an interruption, where the thread that the program runs on lets one be heard. */
export async function interruptibly<T>(
  given: GivenFlags,
  io: CliIo,
  work: (interruption: Interruption) => Promise<T>,
): Promise<T> {
  const interruption = new Interruption()
  // On the host's thread no listener could run inside a turn: there the signal itself ends the process.
  const ignore = given.value('thread') === 'host' ? () => {} : io.onInterrupt(() => interruption.interrupt())
  try {
    return await work(interruption)
  } finally {
    ignore()
  }
}
