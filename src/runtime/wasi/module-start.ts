/** What the machine of a module is started with, from what an embedder gave: checked before any resource is taken. */
import type { ModuleCall } from '../../component/module/module-call.ts'
import { checkProgramSize, type ModuleProgram, programBytes } from '../../component/module/module-program.ts'
import type { GuestCapability, MachineStart } from '../../machine/turn.ts'
import { type LimitBounds, machineStart } from '../machine-start.ts'
import type { Platform } from '../platform.ts'
import { grantedWorld } from './granted-world.ts'
import type { RunModuleOptions } from './module-options.ts'

/** @throws CaissonError `invalid_argument`, `invalid_limit`, `value_too_large` */
export function moduleStart(
  options: RunModuleOptions,
  capabilities: readonly GuestCapability[],
  bounds: LimitBounds,
  platform: Platform,
): MachineStart {
  const { limits, seed, nowMs } = options
  const own = {
    ...(limits && { limits }),
    ...(seed !== undefined && { seed }),
    ...(nowMs !== undefined && { nowMs }),
  }
  const start = machineStart('', own, capabilities, bounds, platform)
  const program = moduleProgram(options)
  checkProgramSize(program, start.limits.bytesIn, programBytes(program))
  return { ...start, fileName: program.args[0] as string, program }
}

function moduleProgram(options: RunModuleOptions): ModuleProgram {
  const { name = 'program', args = [], entry = '_start', startUp, missing = 'refuse' } = options
  const { clock = true, random = true } = options
  return {
    kind: 'module',
    version: 1,
    entry: copyOfEntry(entry),
    ...(startUp && { startUp: startUp.map(copyOfCall) }),
    ...(missing === 'trap' && { missing }),
    ...grantedWorld({ ...options, args: [name, ...args], clock, random }),
  }
}

function copyOfEntry(entry: string | readonly ModuleCall[]): ModuleProgram['entry'] {
  return typeof entry === 'string' ? entry : entry.map(copyOfCall)
}

function copyOfCall({ name, args }: ModuleCall): ModuleCall {
  return { name, args: args.map((arg) => (typeof arg === 'string' ? arg : [...arg])) }
}
