/** What the command says by its exit code: 0 only when it did what it says. */

/** Exit codes, as `--help` and the documentation list them. */
export const EXIT = {
  done: 0,
  internal: 1,
  usage: 2,
  failed: 3,
  exhausted: 4,
  denied: 5,
  waiting: 6,
  refusedInput: 7,
  interrupted: 130,
} as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** One line per code, for help. */
export const EXIT_MEANINGS: Readonly<Record<ExitCode, string>> = {
  0: 'it did what it says',
  1: 'caisson itself failed, or its output could not be written',
  2: 'usage: an unknown flag, a malformed value, a file or folder that is not there or cannot be used',
  3: 'the program failed',
  4: 'the program reached a limit',
  5: 'a call was denied or rejected, and the program did not handle it',
  6: 'suspended: waiting for an answer or a person',
  7: 'corrupted or refused input: what a file holds is no text, too large, broken JSON, no key file, a plan that is not right, or a checkpoint that may not be used',
  130: 'interrupted (Ctrl-C, or SIGTERM)',
}
