/**
 * Preview 1 for one guest: the shim reads arguments out of guest memory and writes results into it, descriptors of ours
 * do the work, and a guard stands before both.
 */
import { type Fd, WASI } from '@bjorn3/browser_wasi_shim'
import { CaissonError } from '../../../src/base/errors.ts'
import type {
  WasiDescriptorState,
  WasiFunctions,
  WasiMemory,
  WasiTurns,
  WasiWorld,
} from '../../../src/ports/wasi-host.ts'
import { type GrantedDirectory, reopenDirectory, reopenFile } from '../granted-directories.ts'
import type { GuestEnd } from '../guest-end.ts'
import type { StandardStreams } from '../standard-streams.ts'
import { Descriptors } from './descriptors.ts'
import { DirectoryFd } from './directory-fd.ts'
import { FileFd } from './file-fd.ts'
import { guardImport, PREVIEW1_NAMES, type UncheckedImport } from './guard.ts'
import type { GuestFd } from './guest-fd.ts'
import { GuestMemory } from './guest-memory.ts'
import { type MendContext, mendedImports } from './mends.ts'
import { DIRECTORY_RIGHTS, FILE_RIGHTS } from './rights.ts'
import { InputFd, OutputFd } from './stream-fd.ts'

export interface Preview1Context {
  readonly world: WasiWorld
  readonly granted: readonly GrantedDirectory[]
  readonly streams: StandardStreams
  readonly turns: WasiTurns
  readonly end: GuestEnd
}

export interface Preview1 {
  readonly imports: WasiFunctions
  attach(memory: WasiMemory): void
  capture(): Preview1State
  /** @throws CaissonError `corrupted` */
  restore(state: Preview1State): void
  /** Closes what is open of the host's own files. */
  close(): void
}

export interface Preview1State {
  readonly descriptors: readonly WasiDescriptorState[]
  readonly waitingSinceNs: bigint | null
}

export function openPreview1({ world, granted, streams, turns, end }: Preview1Context): Preview1 {
  const nowNs = (): bigint => world.clock?.wallNs() ?? 0n
  const fds: Fd[] = []
  const memory = new GuestMemory()
  const descriptors = new Descriptors(fds, world.limits.descriptors)
  const env = Object.entries(world.env).map(([name, value]) => `${name}=${value}`)
  const shim = new WASI([...world.args], env, fds, { debug: false })
  const context: MendContext = {
    memory,
    descriptors,
    args: world.args.map((arg) => new TextEncoder().encode(arg)),
    clock: world.clock,
    random: world.random,
    turns,
    end,
    waitingSinceNs: undefined,
  }

  const make = (handle: WasiDescriptorState['handle'], state?: WasiDescriptorState): GuestFd => {
    switch (handle.kind) {
      case 'stdin':
        return new InputFd(streams.stdin)
      case 'stdout':
      case 'stderr':
        return new OutputFd(streams[handle.kind], handle.kind)
      case 'granted': {
        const directory = grantOf(granted, handle.grant)
        return new DirectoryFd({
          directory: directory.root,
          granted: directory,
          isGranted: true,
          rights: DIRECTORY_RIGHTS,
          inheriting: DIRECTORY_RIGHTS | FILE_RIGHTS,
          nowNs,
        })
      }
      case 'directory': {
        const directory = grantOf(granted, handle.grant)
        return new DirectoryFd({
          directory: reopenDirectory(directory, handle.inode),
          granted: directory,
          isGranted: false,
          rights: state?.rights ?? 0n,
          inheriting: state?.inheriting ?? 0n,
          nowNs,
        })
      }
      case 'file':
        return new FileFd({
          file: reopenFile(grantOf(granted, handle.grant), handle.inode),
          grant: handle.grant,
          rights: state?.rights ?? 0n,
          flags: state?.flags ?? 0,
          offset: handle.offset,
          nowNs,
        })
      default:
        throw new CaissonError('corrupted', 'The state of a guest holds a descriptor of an unknown kind.')
    }
  }
  const standard = ['stdin', 'stdout', 'stderr'] as const
  for (const [number, kind] of standard.entries()) descriptors.put(number, make({ kind }))
  for (const { grant } of granted) descriptors.add(make({ kind: 'granted', grant }))

  const mends = mendedImports(context)
  const imports: WasiFunctions = Object.fromEntries(
    PREVIEW1_NAMES.map((name) => {
      const act = mends[name] ?? (shim.wasiImport[name] as UncheckedImport)
      return [name, guardImport(name, act, memory, end)]
    }),
  )
  const closeAll = (): void => {
    for (const [number, fd] of descriptors.entries()) {
      fd.fd_close()
      descriptors.remove(number)
    }
  }
  return {
    imports,
    attach: (attached) => {
      memory.attach(attached)
      shim.inst = { exports: { memory: attached as WebAssembly.Memory } }
    },
    capture: () => ({
      descriptors: descriptors.entries().map(([number, fd]) => ({
        number,
        handle: fd.handle(),
        rights: fd.rights.base,
        inheriting: fd.rights.inheriting,
        flags: fd.flags,
      })),
      waitingSinceNs: context.waitingSinceNs ?? null,
    }),
    restore: (state) => {
      closeAll()
      if (state.descriptors.length > world.limits.descriptors) {
        throw new CaissonError('corrupted', 'The state of a guest holds more descriptors than it may.')
      }
      for (const entry of state.descriptors) {
        const isNumber = Number.isInteger(entry.number) && entry.number >= 0 && entry.number < 1_000_000
        if (!isNumber || descriptors.find(entry.number) !== undefined) {
          throw new CaissonError('corrupted', 'The state of a guest holds an impossible descriptor.')
        }
        const fd = make(entry.handle, entry)
        // Never more than its kind can have.
        fd.rights.base &= BigInt(entry.rights)
        fd.rights.inheriting &= BigInt(entry.inheriting)
        fd.flags = entry.flags
        descriptors.put(entry.number, fd)
      }
      context.waitingSinceNs = state.waitingSinceNs ?? undefined
    },
    close: closeAll,
  }
}

function grantOf(granted: readonly GrantedDirectory[], grant: number): GrantedDirectory {
  const found = granted[grant]
  if (found !== undefined) return found
  throw new CaissonError('corrupted', 'The state of a guest holds something open that is not granted now.')
}
