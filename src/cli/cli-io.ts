/** What a command needs of the process, so that tests can stand in for it. */

/** Where text goes. */
export interface CliOutput {
  /** Bytes go as they are: what a program wrote need not be text. */
  write(text: string | Uint8Array): void
  /** Whether a person looks at it. Decides about colours, the summary and the progress line. */
  readonly isTerminal: boolean
  /** Width in columns: a terminal's own, else what `COLUMNS` says, else 80. */
  readonly columns: number
  /** Height in rows, of a terminal that tells it. */
  readonly rows?: number | undefined
  /** Whether colours may be used: a terminal, and `NO_COLOR` is not set. */
  readonly colours: boolean
}

export interface CliIo {
  readonly stdout: CliOutput
  readonly stderr: CliOutput
  /** Standard input as a stream of bytes. */
  stdin(): AsyncIterable<Uint8Array>
  /** Relative paths start here. */
  readonly cwd: string
  /** Calls `listener` when the person asks to stop (Ctrl-C). Returns how to stop listening. */
  onInterrupt(listener: () => void): () => void
}
