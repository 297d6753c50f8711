/** What a component leaves that was run to its end, where all that it wrote is asked for. */
import { exhausted } from '../machine/exhausted.ts'
import type { Limits } from '../machine/limits.ts'
import type { TurnEnd, Usage } from '../machine/turn.ts'
import type { WasiHost } from '../ports/wasi-host.ts'
import type { FunctionType } from './abi/wit-type.ts'
import { endOfCall } from './component-end.ts'
import type { ComponentLife } from './component-life.ts'
import type { ComponentEnd } from './component-outcome.ts'

/** The value of a component that was run with `collect`. */
export interface ComponentResult {
  /**
   * 0 where its export returned; what it exited with, which is 0 or 1 unless it said more (`exit-with-code`); 1 where a
   * command (`wasi:cli/run`) gave `err`. A code other than 0 is no failure of the runtime's.
   */
  readonly exitCode: number
  /** What its export gave, of a `result` the value of `ok`; null where it exited. */
  readonly value: unknown
  readonly stdout: Uint8Array
  /** Up to `limits.logBytes`; what did not fit is counted in `usage.logsDropped`. */
  readonly stderr: Uint8Array
  /** What it made or changed in directories in memory, by absolute path as the guest sees it. */
  readonly files: Readonly<Record<string, Uint8Array>>
}

/** The entry of a command of WASI 0.2. */
const COMMAND = /^wasi:cli\/run@[^#]*#run$/

export function isCommand(name: string): boolean {
  return COMMAND.test(name)
}

/** The end of a call, with all that was written, and what it was charged. */
export function endOfCollected(
  end: ComponentEnd,
  called: { readonly export: string; readonly type: FunctionType },
  { wasi, files: filesOf }: Pick<ComponentLife, 'wasi' | 'files'>,
  limits: Limits,
  usage: Usage,
): { readonly end: TurnEnd; readonly usage: Usage } {
  const exitCode = exitCodeOf(end, called.export)
  const own = exitCode === 0 ? endOfCall(end, called.type) : { status: 'completed' as const, value: null }
  const { stdout, stderr } = wasi ?? NOTHING_WRITTEN
  const told = { ...usage, logsDropped: usage.logsDropped + stderr.droppedBytes }
  if (own.status !== 'completed') return { end: own, usage: told }
  const files = filesOf()
  const bytesOut =
    Object.values(files).reduce((sum, bytes) => sum + bytes.length, stdout.bytes.length) + usage.bytesOut
  const charged = { ...told, bytesOut }
  if (stdout.droppedBytes > 0 || bytesOut > limits.bytesOut)
    return { end: exhausted('bytes', limits, 'bytesOut'), usage: charged }
  const value: ComponentResult = {
    exitCode,
    value: own.value,
    stdout: stdout.bytes,
    stderr: stderr.bytes,
    files,
  }
  return { end: { status: 'completed', value }, usage: charged }
}

const NOTHING: WasiHost['stdout'] = { bytes: new Uint8Array(0), droppedBytes: 0 }
const NOTHING_WRITTEN: Pick<WasiHost, 'stdout' | 'stderr'> = { stdout: NOTHING, stderr: NOTHING }

function exitCodeOf(end: ComponentEnd, name: string): number {
  if (end.status === 'exited') return end.exitCode
  const isErr = end.status === 'completed' && isCommand(name) && isErrOf(end.value)
  return isErr ? 1 : 0
}

function isErrOf(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'tag' in value && value.tag === 'err'
}
