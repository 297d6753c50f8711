/** The machine of a kept run: held while there is work for it, within its limits, and put where its checkpoint is. */
import type { Gate } from '../capability/gate.ts'
import type { Limits } from '../machine/limits.ts'
import type { Machine, SyncCalls } from '../machine/turn.ts'
import type { Checkpoints } from './checkpoints.ts'
import type { GuestLine } from './guest-line.ts'
import { checkSameNames, type KeptRun } from './kept-run.ts'
import { holdsThread, LinePlace } from './line-place.ts'
import type { MachineSource } from './machine-source.ts'
import { checkFits, type LimitBounds, limitsAfter } from './machine-start.ts'
import type { ResumeOptions, RunOptions } from './options.ts'
import { DEFAULT_DOMAIN } from './run-owner.ts'

export interface KeptMachineParts {
  readonly checkpoints: Checkpoints
  readonly machines: MachineSource
  readonly line: GuestLine
  readonly bounds: LimitBounds
}

/** Holds a place in the line and a machine while `work` goes on. */
export async function atWork<T>(
  { line, machines }: Pick<KeptMachineParts, 'line' | 'machines'>,
  options: Pick<RunOptions, 'domain' | 'signal' | 'thread'>,
  limits: Limits,
  syncCalls: SyncCalls,
  work: (machine: Machine, asleep: LinePlace['asleep'] | undefined) => Promise<T>,
): Promise<T> {
  const { domain = DEFAULT_DOMAIN, signal } = options
  await line.enter(domain, signal)
  const place = new LinePlace(line, domain, true)
  let machine: Machine | undefined
  try {
    machine = await machines.open(options, limits, syncCalls)
    return await work(machine, holdsThread(options) ? undefined : place.asleep)
  } finally {
    machine?.dispose()
    place.leave()
  }
}

/** Puts the machine where the run's last checkpoint is; one that begins anew is left as it is. */
export async function takeUp(
  { checkpoints }: Pick<KeptMachineParts, 'checkpoints'>,
  machine: Machine,
  { read, record }: KeptRun,
  gate: Gate,
  limits: Limits,
): Promise<void> {
  checkSameNames(record, gate)
  if (read === undefined) return
  checkFits(read.memoryBytes, limits)
  await machine.restore({
    memoryBytes: read.memoryBytes,
    changes: read.pages.changesSince(checkpoints.basePages),
    state: read.state.machine,
    capabilities: gate.capabilities,
    limits,
  })
}

/** Fuel that is added counts from what the run had. */
export function limitsOfKept(
  { bounds, checkpoints }: Pick<KeptMachineParts, 'bounds' | 'checkpoints'>,
  before: Limits,
  { limits, addFuel }: Pick<ResumeOptions, 'limits' | 'addFuel'>,
): Limits {
  const more = addFuel !== undefined && { fuel: (limits?.fuel ?? before.fuel) + addFuel }
  return limitsAfter(before, { ...limits, ...more }, bounds, checkpoints.authenticated)
}
