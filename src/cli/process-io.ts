/** The process as `CliIo`. A reader that goes away (`caisson ... | head`) ends the output, not the command. */
import type { CliIo, CliOutput } from './cli-io.ts'

export interface ProcessIo extends CliIo {
  /**
   * Waits until everything was handed to the system.
   * @returns what kept stdout from being written, undefined if it was written or nobody wants it any more
   */
  flush(): Promise<Error | undefined>
}

export function openProcessIo(): ProcessIo {
  const stdout = openOutput(process.stdout)
  const stderr = openOutput(process.stderr)
  return {
    stdout,
    stderr,
    stdin: () => process.stdin as AsyncIterable<Uint8Array>,
    cwd: process.cwd(),
    onInterrupt(listener) {
      // Once: a second Ctrl-C ends the process as the system does it.
      const signals = ['SIGINT', 'SIGTERM'] as const
      for (const signal of signals) process.once(signal, listener)
      return () => {
        for (const signal of signals) process.off(signal, listener)
      }
    },
    async flush() {
      await stderr.drained()
      return stdout.drained()
    },
  }
}

interface ProcessOutput extends CliOutput {
  drained(): Promise<Error | undefined>
}

function openOutput(stream: NodeJS.WriteStream): ProcessOutput {
  let failure: Error | undefined
  let gone = false
  stream.on('error', (error: NodeJS.ErrnoException) => {
    gone = true
    if (error.code !== 'EPIPE') failure ??= error
  })
  return {
    write(text) {
      if (!gone && text.length > 0) stream.write(text)
    },
    isTerminal: stream.isTTY === true,
    get columns() {
      return stream.columns ?? wantedColumns() ?? 80
    },
    get rows() {
      return stream.rows
    },
    colours: stream.isTTY === true && !process.env.NO_COLOR && process.env.TERM !== 'dumb',
    async drained() {
      // An empty write comes back after all that were made before it, or after the stream failed.
      if (!gone) await new Promise<void>((resolve) => stream.write('', () => resolve()))
      return failure
    },
  }
}

/** `COLUMNS`, where it is a width: what is no terminal has none of its own. */
function wantedColumns(): number | undefined {
  const { COLUMNS = '' } = process.env
  return /^[1-9]\d{0,4}$/.test(COLUMNS) ? Number(COLUMNS) : undefined
}
