/** What the machine of a module is started with, from what an embedder gave: checked before any resource is taken. */
import { CaissonError } from '../../base/errors.ts'
import { clipText } from '../../base/escape-text.ts'
import type { ModuleDirectory, ModuleProgram } from '../../component/module/module-program.ts'
import { checkProgramSize } from '../../component/module/module-program.ts'
import type { GuestCapability, MachineStart } from '../../machine/turn.ts'
import { type LimitBounds, machineStart } from '../machine-start.ts'
import type { Platform } from '../platform.ts'
import type { ModuleDirectoryGrant, RunModuleOptions } from './module-options.ts'

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
  checkProgramSize(program, start.limits.bytesIn)
  return { ...start, fileName: program.args[0] as string, program }
}

function moduleProgram(options: RunModuleOptions): ModuleProgram {
  const { name = 'program', args = [], env = {}, stdin = '', entry = '_start' } = options
  const { directories = {}, clock = true, random = true } = options
  return {
    kind: 'module',
    version: 1,
    entry,
    args: [name, ...args],
    env: { ...env },
    stdin: bytesOf(stdin),
    directories: Object.entries(directories).map(([path, grant]) => directoryOf(path, grant)),
    clock,
    random,
  }
}

function directoryOf(
  guestPath: string,
  { files, open, writable = false }: ModuleDirectoryGrant,
): ModuleDirectory {
  if ((files === undefined) === (open === undefined)) {
    throw new CaissonError(
      'invalid_argument',
      `The directory ${clipText(guestPath, 200)} takes either files or open, and one of them.`,
    )
  }
  return { guestPath, writable, files: files === undefined ? null : filesOf(guestPath, files) }
}

function filesOf(
  path: string,
  files: NonNullable<ModuleDirectoryGrant['files']>,
): Readonly<Record<string, Uint8Array>> {
  const entries = Object.entries(files).map(([name, content]) => {
    if (typeof content === 'string' || content instanceof Uint8Array) return [name, bytesOf(content)] as const
    throw new CaissonError(
      'invalid_argument',
      `The file ${clipText(name, 200)} of ${clipText(path, 200)} takes a text or a Uint8Array.`,
    )
  })
  return Object.fromEntries(entries)
}

function bytesOf(content: string | Uint8Array): Uint8Array {
  return typeof content === 'string' ? new TextEncoder().encode(content) : content.slice()
}
