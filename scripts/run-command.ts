/**
 * Runs one command to its end and keeps what it printed.
 *
 * The tools in this folder report in one line per step, so a command's output is shown only when the
 * step failed. No shell takes part: arguments are passed as they are.
 */
import { spawn } from 'node:child_process'

export interface CommandResult {
  /** Exit code; 127 when the program could not be started, 124 when the time was over. */
  readonly code: number
  /** Standard output and standard error in the order of arrival. */
  readonly output: string
  readonly stdout: string
  readonly elapsedMs: number
}

export interface CommandOptions {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string | undefined>>
  /** The command is killed, with its children, after this many milliseconds. Default: ten minutes. */
  readonly timeoutMs?: number
  /** `true` passes the output through as it comes instead of keeping it. */
  readonly inherit?: boolean
}

const TEN_MINUTES_MS = 600_000
/** More output than this is noise: the oldest part is dropped. */
const KEPT_CHARACTERS = 1_000_000

/** Never rejects: a program that is missing or killed is a result with a non-zero code. */
export function runCommand(
  command: string,
  args: readonly string[],
  options: CommandOptions = {},
): Promise<CommandResult> {
  const started = performance.now()
  return new Promise((resolve) => {
    let output = ''
    let stdout = ''
    let timedOut = false
    const child = spawn(command, args, {
      cwd: options.cwd,
      env: { ...process.env, ...options.env },
      stdio: options.inherit ? ['ignore', 'inherit', 'inherit'] : ['ignore', 'pipe', 'pipe'],
      // A group of its own, so that a timeout ends the grandchildren too.
      detached: process.platform !== 'win32',
      // npm and npx are .cmd files on Windows, which only a shell can start.
      shell: process.platform === 'win32',
    })
    const forwardInterrupt = (): void => killGroup(child.pid)
    process.once('SIGINT', forwardInterrupt)
    const timer = setTimeout(() => {
      timedOut = true
      killGroup(child.pid)
    }, options.timeoutMs ?? TEN_MINUTES_MS)
    const finish = (code: number): void => {
      clearTimeout(timer)
      process.off('SIGINT', forwardInterrupt)
      resolve({ code: timedOut ? 124 : code, output, stdout, elapsedMs: performance.now() - started })
    }
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-KEPT_CHARACTERS)
      stdout = (stdout + text).slice(-KEPT_CHARACTERS)
    })
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-KEPT_CHARACTERS)
    })
    child.on('error', (error) => {
      output += `${error.message}\n`
      finish(127)
    })
    child.on('close', (code) => finish(code ?? 1))
  })
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL')
  } catch {
    // It ended by itself in the meantime.
  }
}
