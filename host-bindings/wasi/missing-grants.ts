/** What a module or component imports and its world does not have: for who would rather not start it than see it fail. */
import type { WasiGrant, WasiImport, WasiMissing, WasiWorld } from '../../src/ports/wasi-host.ts'
import { PREVIEW1_NAMES } from './preview1/guard.ts'
import { PREVIEW2_GRANTS } from './preview2/interfaces.ts'

const PREVIEW1_MODULE = 'wasi_snapshot_preview1'

/** Imports that are useless without a grant. Those that merely look whether something is there are none of them. */
const PREVIEW1_GRANTS: Readonly<Record<string, WasiGrant>> = {
  clock_res_get: 'clock',
  clock_time_get: 'clock',
  random_get: 'random',
  path_create_directory: 'directories',
  path_filestat_get: 'directories',
  path_filestat_set_times: 'directories',
  path_link: 'directories',
  path_open: 'directories',
  path_readlink: 'directories',
  path_remove_directory: 'directories',
  path_rename: 'directories',
  path_symlink: 'directories',
  path_unlink_file: 'directories',
  sock_accept: 'sockets',
  sock_recv: 'sockets',
  sock_send: 'sockets',
  sock_shutdown: 'sockets',
}

export function missingGrants(world: WasiWorld, imports: readonly WasiImport[]): readonly WasiMissing[] {
  return imports.flatMap((given): readonly WasiMissing[] => {
    const grant = grantFor(given)
    return grant === undefined || (grant !== 'unknown' && isGranted(world, grant))
      ? []
      : [{ ...given, grant }]
  })
}

function grantFor({ module, name }: WasiImport): WasiGrant | 'unknown' | undefined {
  if (module === PREVIEW1_MODULE) {
    if (name === undefined || !PREVIEW1_NAMES.includes(name)) return 'unknown'
    return PREVIEW1_GRANTS[name]
  }
  if (!module.startsWith('wasi:')) return undefined
  const [id = ''] = module.split('@')
  if (id.startsWith('wasi:sockets/')) return 'sockets'
  return Object.hasOwn(PREVIEW2_GRANTS, id) ? PREVIEW2_GRANTS[id] : 'unknown'
}

function isGranted(world: WasiWorld, grant: WasiGrant): boolean {
  switch (grant) {
    case 'clock':
      return world.clock !== undefined
    case 'random':
      return world.random !== undefined
    case 'directories':
      return world.directories.length > 0
    case 'http':
      return world.http !== undefined
    case 'sockets':
      return false
  }
}
