/**
 * Installs the peers beside the benches: `npm run bench:install`, or on demand by the first `npm run bench`.
 *
 * Without install scripts, which nobody reviewed; only isolated-vm needs its own, because it is compiled here. That
 * takes a C++ compiler and minutes, so it happens only when asked for, and its failure is not ours.
 */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const FOLDER: string = fileURLToPath(new URL('./thirdparty', import.meta.url))

export function arePeersInstalled(): boolean {
  return existsSync(`${FOLDER}/node_modules/.package-lock.json`)
}

function npm(...args: readonly string[]): boolean {
  // All output to stderr: stdout belongs to the report.
  const { status } = spawnSync('npm', [...args, '--prefix', FOLDER], { stdio: ['ignore', 2, 2] })
  return status === 0
}

/** @throws Error when the registry cannot be reached or the lock file does not fit */
export function installPeers(options: { readonly buildNative: boolean }): void {
  // Not `npm ci`: a peer names packages for other platforms that its authors never published, and newer npm calls a
  // lock file without them out of step. This takes exactly the versions of the lock file too.
  if (!npm('install', '--no-save', '--ignore-scripts'))
    throw new Error('npm could not install the peers of the benches')
  if (options.buildNative && !npm('rebuild', 'isolated-vm')) {
    console.error('isolated-vm could not be built; the benches leave it out.')
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) installPeers({ buildNative: true })
