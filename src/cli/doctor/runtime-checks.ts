/** The JavaScript runtime and the system under it. */
import { tmpdir } from 'node:os'
import { canAnchor } from '../../../host-bindings/files/node/anchored-directory.node.ts'
import type { Check } from './check.ts'

const OLDEST_NODE = [20, 19] as const

/** Name and version of what runs this: Bun and Deno say that they are Node, too. */
export function runtimeName(): string {
  const { bun, deno, node } = process.versions
  if (bun !== undefined) return `Bun ${bun}`
  return deno !== undefined ? `Deno ${deno}` : `Node ${node}`
}

export function checkRuntime(): Check {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const isOld = major < OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor < OLDEST_NODE[1])
  const detail = `${runtimeName()} on ${process.platform} ${process.arch}`
  return isOld
    ? { name: 'runtime', status: 'fail', detail, fix: `Use Node ${OLDEST_NODE.join('.')} or newer.` }
    : { name: 'runtime', status: 'ok', detail }
}

export function checkSharedMemory(): Check {
  return typeof SharedArrayBuffer === 'function' && typeof Atomics?.wait === 'function'
    ? { name: 'shared memory', status: 'ok', detail: 'Workers can be stopped inside a turn' }
    : {
        name: 'shared memory',
        status: 'warn',
        detail:
          'not here: a Worker that passes its deadline is ended as a whole, and sync capabilities need the host thread',
        fix: 'In a page: serve it cross-origin isolated (COOP and COEP headers).',
      }
}

export async function checkFiles(): Promise<Check> {
  const anchored = await canAnchor(tmpdir()).catch(() => false)
  return anchored
    ? {
        name: 'granted directories',
        status: 'ok',
        detail: 'anchored: each name is looked up in an open directory',
      }
    : {
        name: 'granted directories',
        status: 'warn',
        detail:
          'checked: names are checked before and after opening, so do not let others change a granted directory meanwhile',
        fix: 'On Linux with /proc mounted they are anchored.',
      }
}
